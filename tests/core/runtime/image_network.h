// SPDX-License-Identifier: Apache-2.0
// Networks of 8-bit images with fusible nodes, compared with the same nodes run separately.
#pragma once

#include <gtest/gtest.h>

#include "core/base/cpu.h"
#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {

// A network of images [2, c, 6, 5] of one type; the input `x` has 9 channels.
class ImageNetwork {
 public:
  ImageNetwork() : x_(graph_.AddInput("x", TypeOf(9))) {}

  ir::ValueId x() const { return x_; }
  ir::ValueId Add(std::string_view op, std::vector<ir::ValueId> inputs, int64_t channels,
                  ir::AttrMap attributes = {}) {
    const ir::NodeId id = graph_.AddNode({.op = ops::FindOp(op),
                                          .inputs = std::move(inputs),
                                          .attributes = std::move(attributes),
                                          .results = {{NewName(), TypeOf(channels)}}});
    return graph_.node(id).result();
  }
  ir::ValueId Conv(ir::ValueId x, int64_t channels, int64_t kernel, int64_t groups = 1) {
    const int64_t pad = kernel / 2, ins = graph_.type(x).shape[1] / groups;
    const ir::Type type = ChannelType(ir::DType::kI8, {channels, ins, kernel, kernel}, 0, 0.004f);
    const ir::ValueId w =
        graph_.AddConstant(NewName(), ir::MakePayload(RandomElements(type, 7)), type);
    return Add("Conv", {x, w}, channels,
               {{"pads", std::vector<int64_t>{pad, pad, pad, pad}}, {"group", groups}});
  }
  ir::ValueId Pool(ir::ValueId x) {
    return Add(
        "MaxPool", {x}, graph_.type(x).shape[1],
        {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  }
  ir::ValueId Concat(const std::vector<ir::ValueId>& parts, int64_t axis = 1) {
    int64_t channels = 0;
    for (const ir::ValueId part : parts) channels += graph_.type(part).shape[1];
    return Add("Concat", parts, channels, {{"axis", axis}});
  }
  // Rescales to i8 with twice the scale.
  ir::ValueId Rescale(ir::ValueId x) {
    const ir::NodeId id = graph_.AddNode(
        {.op = ops::FindOp("Rescale", "octavo"),
         .inputs = {x},
         .results = {{NewName(), QuantType(ir::DType::kI8, graph_.type(x).shape, 0.2f, -5)}}});
    return graph_.node(id).result();
  }
  void Output(ir::ValueId id) { graph_.AddOutput(id); }

  // The ops of a run's steps.  Checks on every instruction set that the results are those of the
  // separate ops.
  std::vector<std::string> Steps() const {
    const ir::Tensor input = RandomElements(graph_.type(x_), 3);
    std::vector<std::string> steps;
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        const auto joined = Plan::Create(graph_, {}, pool);
        const auto apart = Plan::Create(graph_, {.keep_all_values = true}, pool);
        EXPECT_TRUE(joined && apart);
        std::vector<StepProfile> profile;
        EXPECT_EQ(*joined->Run({input}, pool, {}, {}, &profile), *apart->Run({input}, pool));
        steps.clear();
        for (const StepProfile& step : profile) steps.push_back(step.op);
      }
    }
    return steps;
  }

 private:
  static ir::Type TypeOf(int64_t channels) {
    return QuantType(ir::DType::kU8, {2, channels, 6, 5}, 0.1f, 7);
  }
  std::string NewName() { return fmt::format("v{}", names_++); }

  ir::Graph graph_;
  int names_ = 0;
  ir::ValueId x_;
};

}  // namespace octavo::runtime
