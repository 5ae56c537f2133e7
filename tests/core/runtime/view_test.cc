// SPDX-License-Identifier: Apache-2.0
// Chains of ops that move elements: one copy per value that a kernel reads, with the elements of
// the separate ops, between all pairs of layouts.
#include "core/runtime/plan/view.h"

#include <gtest/gtest.h>

#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Shape;
using ir::Tensor;
using ir::Type;
using ir::ValueId;
using Ints = std::vector<int64_t>;

// A network of u8 values of one type; the input `x` is [2, 12, 5, 7].
class Network {
 public:
  Network() : x_(graph_.AddInput("x", TypeOf({2, 12, 5, 7}))) {}

  ValueId x() const { return x_; }
  ValueId ints(Ints values, Shape shape) {
    Tensor tensor(DType::kI64, std::move(shape));
    std::ranges::copy(values, tensor.mutable_values<int64_t>().begin());
    return graph_.AddConstant(NewName(), tensor);
  }
  ValueId ints(const Ints& values) { return ints(values, {std::ssize(values)}); }
  std::vector<ValueId> Add(std::string_view op, std::vector<ValueId> inputs,
                           const std::vector<Shape>& shapes, ir::AttrMap attributes = {}) {
    std::vector<std::pair<std::string, Type>> results;
    for (const Shape& shape : shapes) results.push_back({NewName(), TypeOf(shape)});
    const ir::NodeId id = graph_.AddNode({.op = ops::FindOp(op),
                                          .inputs = std::move(inputs),
                                          .attributes = std::move(attributes),
                                          .results = results});
    return graph_.node(id).results;
  }
  ValueId Reshape(ValueId x, const Ints& shape) {
    return Add("Reshape", {x, ints(shape)}, {shape})[0];
  }
  ValueId Transpose(ValueId x, const Ints& perm) {
    Shape shape;
    for (const int64_t axis : perm) shape.push_back(graph_.type(x).shape[axis]);
    return Add("Transpose", {x}, {shape}, {{"perm", perm}})[0];
  }
  // A node whose operands and results are channels-last.
  ValueId Pool(ValueId x) {
    return Add("MaxPool", {x}, {graph_.type(x).shape},
               {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}})[0];
  }
  void Output(ValueId id) { graph_.AddOutput(id); }

  // The number of copies and layout conversions of a run.  Checks that its results are those of the
  // separate ops.
  int Copies() const {
    ThreadPool pool(2);
    const auto fused = Plan::Create(graph_, {}, pool);
    const auto apart = Plan::Create(graph_, {.keep_all_values = true}, pool);
    EXPECT_TRUE(fused && apart);
    const Tensor input = RandomElements(graph_.type(x_), 3);
    std::vector<StepProfile> profile;
    EXPECT_EQ(*fused->Run({input}, pool, {}, {}, &profile), *apart->Run({input}, pool));
    return static_cast<int>(std::ranges::count_if(profile, [](const StepProfile& step) {
      return step.kernel == "copy-view" || step.op == "Layout";
    }));
  }

 private:
  static Type TypeOf(Shape shape) { return QuantType(DType::kU8, std::move(shape), 0.1f, 7); }
  std::string NewName() { return fmt::format("v{}", names_++); }

  ir::Graph graph_;
  int names_ = 0;
  ValueId x_;
};

// Copies channels 0, 2, 4.. and channels 1, 3, 5.. of a channels-last image, with one copy each.
TEST(LazyView, EveryOtherChannelIsOneCopy) {
  Network net;
  const ValueId from = net.Pool(net.x());
  const ValueId pairs = net.Reshape(from, {12, 2, 35});
  const ValueId sides = net.Reshape(net.Transpose(pairs, {1, 0, 2}), {2, 2, 6, 5, 7});
  for (const int64_t side : {0, 1}) {
    const ValueId half =
        net.Add("Gather", {sides, net.ints({side}, {})}, {{2, 6, 5, 7}}, {{"axis", int64_t{0}}})[0];
    net.Output(net.Reshape(net.Pool(half), {2, 210}));
  }
  // Includes the conversions of x and of the results of the two pools.
  EXPECT_EQ(net.Copies(), 5);
}

TEST(LazyView, ShuffledChannelsInHalves) {
  Network net;
  const ValueId groups = net.Reshape(net.Pool(net.x()), {2, 2, 6, 5, 7});
  const ValueId shuffled = net.Reshape(net.Transpose(groups, {0, 2, 1, 3, 4}), {2, 12, 5, 7});
  for (const ValueId half :
       net.Add("Split", {shuffled}, {{2, 6, 5, 7}, {2, 6, 5, 7}}, {{"axis", int64_t{1}}})) {
    net.Output(net.Pool(half));
  }
  EXPECT_EQ(net.Copies(), 5);
}

TEST(LazyView, HeadsOfAttention) {
  Network net;
  const ValueId heads = net.Transpose(net.Reshape(net.x(), {2, 12, 5, 7}), {0, 2, 3, 1});
  net.Output(heads);
  net.Output(net.Reshape(net.Transpose(heads, {0, 2, 1, 3}), {14, 60}));
  EXPECT_EQ(net.Copies(), 2);
}

// Squares of 16 x 16 bytes and the remainders next to them.
TEST(LazyView, MatricesAreTransposed) {
  Network net;
  const ValueId rows = net.Reshape(net.x(), {2, 3, 35, 4});
  net.Output(net.Transpose(net.Reshape(rows, {4, 35, 6}), {0, 2, 1}));
  net.Output(net.Transpose(net.Reshape(rows, {2, 20, 21}), {2, 0, 1}));
  net.Output(net.Transpose(net.Reshape(rows, {2, 5, 42, 2}), {0, 2, 3, 1}));
  net.Output(net.Transpose(net.Reshape(rows, {24, 35}), {1, 0}));
  EXPECT_EQ(net.Copies(), 4);
}

TEST(LazyView, PartsByStepsBackwardAndByIndicesOfNoOrder) {
  Network net;
  const ValueId from = net.Pool(net.x());
  const ValueId part = net.Add("Slice",
                               {from, net.ints({-1, 1, 6}), net.ints({-13, 5, -8}),
                                net.ints({1, 2, 3}), net.ints({-3, 2, -1})},
                               {{2, 4, 2, 7}})[0];
  net.Output(part);
  net.Output(net.Pool(part));
  const ValueId picked =
      net.Add("Gather", {net.Reshape(from, {2, 12, 35}), net.ints({3, -1, 4, 3})}, {{2, 4, 35}},
              {{"axis", int64_t{1}}})[0];
  net.Output(
      net.Add("Squeeze", {net.Reshape(picked, {2, 1, 4, 35}), net.ints({1})}, {{2, 4, 35}})[0]);
  net.Output(net.Add("Flatten", {net.x()}, {{24, 35}}, {{"axis", int64_t{2}}})[0]);
  net.Copies();
}

TEST(LazyView, AnyElementMayBeTheOnlyOne) {
  Network net;
  const Ints first = {0, 3, 1, 2}, end = {1, 4, 2, 3};
  net.Output(net.Add("Slice", {net.x(), net.ints(first), net.ints(end)}, {{1, 1, 1, 1}})[0]);
  EXPECT_EQ(net.Copies(), 1);
}

}  // namespace
}  // namespace octavo::runtime
