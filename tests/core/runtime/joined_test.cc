// Concats of channels whose operands are written in place: the bits of a copy, whoever made the
// operands and whoever else reads them.
#include "core/runtime/joined.h"

#include <gtest/gtest.h>

#include "core/base/cpu.h"
#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Type;
using ir::ValueId;
using Ints = std::vector<int64_t>;

// A network of images [2, c, 6, 5] of one type, begun by `x` of 9 channels.
class Network {
 public:
  Network() : x_(graph_.AddInput("x", TypeOf(9))) {}

  ValueId x() const { return x_; }
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, int64_t channels,
              ir::AttrMap attributes = {}) {
    const ir::NodeId id = graph_.AddNode({.op = ops::FindOp(op),
                                          .inputs = std::move(inputs),
                                          .attributes = std::move(attributes),
                                          .results = {{NewName(), TypeOf(channels)}}});
    return graph_.node(id).result();
  }
  ValueId Conv(ValueId x, int64_t channels, int64_t kernel, int64_t groups = 1) {
    const int64_t pad = kernel / 2, ins = graph_.type(x).shape[1] / groups;
    const Type type = ChannelType(DType::kI8, {channels, ins, kernel, kernel}, 0, 0.004f);
    const ValueId w = graph_.AddConstant(NewName(), ir::MakePayload(RandomCodes(type, 7)), type);
    return Add("Conv", {x, w}, channels, {{"pads", Ints{pad, pad, pad, pad}}, {"group", groups}});
  }
  ValueId Pool(ValueId x) {
    return Add("MaxPool", {x}, graph_.type(x).shape[1],
               {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  }
  ValueId Concat(const std::vector<ValueId>& parts, int64_t axis = 1) {
    int64_t channels = 0;
    for (const ValueId part : parts) channels += graph_.type(part).shape[1];
    return Add("Concat", parts, channels, {{"axis", axis}});
  }
  void Output(ValueId id) { graph_.AddOutput(id); }

  // How many Concats a run has to copy; its results are those of the ops apart.
  int Copies() const {
    const ir::Tensor input = RandomCodes(graph_.type(x_), 3);
    int copies = 0;
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        const auto joined = Plan::Create(graph_, {}, pool);
        const auto apart = Plan::Create(graph_, {.keep_all_values = true}, pool);
        EXPECT_TRUE(joined && apart);
        std::vector<StepProfile> profile;
        EXPECT_EQ(*joined->Run({input}, pool, {}, {}, &profile), *apart->Run({input}, pool));
        copies = static_cast<int>(std::ranges::count(profile, "Concat", &StepProfile::op));
      }
    }
    return copies;
  }

 private:
  static Type TypeOf(int64_t channels) {
    return CodesType(DType::kU8, {2, channels, 6, 5}, 0.1f, 7);
  }
  std::string NewName() { return fmt::format("v{}", names_++); }

  ir::Graph graph_;
  int names_ = 0;
  ValueId x_;
};

TEST(Joined, ConvolutionsOfAnyWidthWriteTheirPart) {
  Network net;
  const ValueId a = net.Conv(net.x(), 7, 1), b = net.Conv(net.x(), 33, 3);
  const ValueId c = net.Conv(net.x(), 130, 3), d = net.Conv(net.x(), 9, 3, 3);
  net.Output(net.Pool(net.Concat({a, b, c, d}, -3)));
  EXPECT_EQ(net.Copies(), 0);
}

TEST(Joined, AnAddAtTheEndOfAConvolutionIsWrittenToo) {
  Network net;
  const ValueId sum = net.Add("Add", {net.Conv(net.x(), 9, 3), net.x()}, 9);
  net.Output(net.Concat({sum, net.Conv(net.x(), 20, 1)}));
  EXPECT_EQ(net.Copies(), 0);
}

TEST(Joined, WhatOthersMakeOrReadIsCopied) {
  Network net;
  const ValueId seen = net.Conv(net.x(), 12, 1), depthwise = net.Conv(net.x(), 9, 3, 9);
  net.Output(seen);
  const ValueId joined = net.Concat({depthwise, net.Conv(seen, 5, 1), seen, net.Pool(net.x())});
  net.Output(net.Concat({joined, net.Conv(joined, 3, 3)}));
  EXPECT_EQ(net.Copies(), 2);
}

TEST(Joined, TwiceTheSameIsCopied) {
  Network net;
  const ValueId a = net.Conv(net.x(), 6, 1);
  net.Output(net.Concat({a, a}));
  EXPECT_EQ(net.Copies(), 1);
}

}  // namespace
}  // namespace octavo::runtime
