// SPDX-License-Identifier: Apache-2.0
// Ops that move elements: values by hand, and axis rules against the actual channels of the
// result's elements.
#include <gtest/gtest.h>

#include "core/ir/map_quant.h"
#include "tests/core/ops/data_case.h"

namespace octavo::ops {
namespace {

using ir::Quant;
using ir::Shape;
using ir::Tensor;
using Ints = std::vector<int64_t>;

Tensor Iota(Shape shape) {
  Tensor tensor(ir::DType::kI32, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    tensor.mutable_values<int32_t>()[i] = static_cast<int32_t>(i);
  }
  return tensor;
}

struct Expected {
  DataCase run;
  Shape shape;
  Ints values;
};

const std::vector<Expected>& ByHand() {
  static const std::vector<Expected> kCases = {
      {{"Concat", {Iota({2, 1}), Iota({2, 2})}, {{"axis", int64_t{-1}}}},
       {2, 3},
       {0, 0, 1, 1, 2, 3}},
      {{"Slice", {Iota({6}), Tensor::Ints({-2}), Tensor::Ints({-100}), {}, Tensor::Ints({-2})}},
       {3},
       {4, 2, 0}},
      {{"Slice", {Iota({2, 3}), Tensor::Ints({1}), Tensor::Ints({1000}), Tensor::Ints({-1})}},
       {2, 2},
       {1, 2, 4, 5}},
      {{"Gather", {Iota({2, 3}), Tensor::Ints({2, -3})}, {{"axis", int64_t{1}}}},
       {2, 2},
       {2, 0, 5, 3}},
      {{"Gather", {Iota({3, 2}), Tensor::Scalar<int64_t>(1)}}, {2}, {2, 3}},
      {{"GatherElements", {Iota({2, 2}), Tensor::Of<int64_t>({1, 2}, {1, 0})}}, {1, 2}, {2, 1}},
      {{"GatherND",
        {Iota({2, 2, 2}), Tensor::Of<int64_t>({2, 1}, {1, 0})},
        {{"batch_dims", int64_t{1}}}},
       {2, 2},
       {2, 3, 4, 5}},
      {{"Transpose", {Iota({2, 3})}}, {3, 2}, {0, 3, 1, 4, 2, 5}},
      {{"Expand", {Iota({2, 1}), Tensor::Ints({2, 1, 2})}}, {2, 2, 2}, {0, 0, 1, 1, 0, 0, 1, 1}},
      {{"Tile", {Iota({1, 2}), Tensor::Ints({2, 2})}}, {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1}},
      {{"Reshape", {Iota({2, 3}), Tensor::Ints({0, -1, 1})}}, {2, 3, 1}, {0, 1, 2, 3, 4, 5}},
      {{"Flatten", {Iota({2, 1, 2})}, {{"axis", int64_t{-1}}}}, {2, 2}, {0, 1, 2, 3}},
      {{"Squeeze", {Iota({1, 2, 1}), Tensor::Ints({-1})}}, {1, 2}, {0, 1}},
      {{"Unsqueeze", {Iota({2}), Tensor::Ints({0, -1})}}, {1, 2, 1}, {0, 1}},
      {{"Pad", {Iota({3}), Tensor::Ints({1, -1}), Tensor::Scalar<int32_t>(9)}}, {3}, {9, 0, 1}},
      {{"Pad", {Iota({3}), Tensor::Ints({2, 2})}, {{"mode", std::string("reflect")}}},
       {7},
       {2, 1, 0, 1, 2, 1, 0}},
      {{"Pad", {Iota({2}), Tensor::Ints({1, 2})}, {{"mode", std::string("edge")}}},
       {5},
       {0, 0, 1, 1, 1}},
      {{"Pad", {Iota({1, 2}), Tensor::Ints({1, 1}), {}, Tensor::Ints({-1})}}, {1, 4}, {0, 0, 1, 0}},
      {{"DepthToSpace", {Iota({1, 8, 1, 1})}, {{"blocksize", int64_t{2}}}},
       {1, 2, 2, 2},
       {0, 2, 4, 6, 1, 3, 5, 7}},
      {{"DepthToSpace",
        {Iota({1, 8, 1, 1})},
        {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}},
       {1, 2, 2, 2},
       {0, 1, 2, 3, 4, 5, 6, 7}},
      {{"SpaceToDepth", {Iota({1, 2, 2, 2})}, {{"blocksize", int64_t{2}}}},
       {1, 8, 1, 1},
       {0, 4, 1, 5, 2, 6, 3, 7}},
      {{"Where", {Tensor::Of<bool>({2, 1}, {true, false}), Iota({2}), Tensor::Scalar<int32_t>(7)}},
       {2, 2},
       {0, 1, 7, 7}},
      {{"Identity", {Iota({2})}}, {2}, {0, 1}},
      {{"Dropout", {Iota({2})}}, {2}, {0, 1}},
      {{"Trilu", {Iota({2, 2})}, {{"upper", int64_t{0}}}}, {2, 2}, {0, 0, 2, 3}},
  };
  return kCases;
}

TEST(Movement, ValuesByHand) {
  for (const Expected& test : ByHand()) {
    const auto results = RunCase(test.run);
    ASSERT_TRUE(results) << test.run.op << ": " << results.error().message;
    EXPECT_EQ((*results)[0].shape(), test.shape) << test.run.op;
    EXPECT_EQ((*results)[0].ToInts(), test.values) << test.run.op;
  }
}

TEST(Movement, SplitCutsUnevenlyWhenItMust) {
  const auto results = RunCase({"Split", {Iota({5})}, {{"num_outputs", int64_t{3}}}, 3});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].ToInts(), Ints({0, 1}));
  EXPECT_EQ((*results)[1].ToInts(), Ints({2, 3}));
  EXPECT_EQ((*results)[2].ToInts(), Ints({4}));
}

TEST(Movement, InvalidNodesAreRefusedByName) {
  const std::vector<std::pair<DataCase, std::string>> cases = {
      {{"Reshape", {Iota({6}), Tensor::Ints({4, -1})}}, "do not divide"},
      {{"Gather", {Iota({2}), Tensor::Ints({2})}}, "index 2 is outside of extent 2"},
      {{"Transpose", {Iota({2, 2})}, {{"perm", Ints{0, 0}}}}, "not a permutation"},
      {{"Slice", {Iota({2}), Tensor::Ints({0}), Tensor::Ints({1}), {}, Tensor::Ints({0})}},
       "a step is 0"},
      {{"Squeeze", {Iota({2}), Tensor::Ints({0})}}, "must have 1"},
      {{"Concat", {Iota({2, 2}), Iota({3, 3})}, {{"axis", int64_t{0}}}}, "differs"},
  };
  for (const auto& [run, message] : cases) {
    const auto results = RunCase(run);
    ASSERT_FALSE(results) << run.op;
    EXPECT_NE(results.error().message.find(message), std::string::npos) << results.error().message;
  }
}

// Runs the op on channel numbers: the channel of every result element must be the one that the
// mapped type states.  Channel c has scale c + 1.
void CheckAxisRule(const DataCase& run, int axis, bool expect_type = true) {
  ir::Graph graph;
  std::vector<ir::ValueId> ids;
  DataCase numbered = run;
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    if (!run.inputs[i]) {
      ids.push_back({});
      continue;
    }
    const ir::Role role = DataOp(run.op).RoleOf(i);
    Tensor tensor = *run.inputs[i];
    ir::Type type{tensor.dtype(), tensor.shape(), {}, {}};
    if (role == ir::Role::kData) {
      Quant quant{{}, {}, axis, 0};
      tensor = tensor.Clone();
      const int64_t stride = ir::StridesOf(tensor.shape())[axis];
      const auto first = static_cast<int64_t>(i) * 100;
      for (int64_t c = 0; c < tensor.shape()[axis]; ++c) {
        quant.scales.push_back(static_cast<float>(first + c + 1));
        quant.zero_points.push_back(0);
      }
      for (int64_t k = 0; k < tensor.size(); ++k) {
        tensor.mutable_values<int32_t>()[k] =
            static_cast<int32_t>(first + k / stride % tensor.shape()[axis]) + 1;
      }
      type.quant = quant;
    }
    numbered.inputs[i] = tensor;
    ids.push_back(graph.AddConstant(fmt::format("x{}", i), ir::MakePayload(tensor), type));
  }
  const auto results = RunCase(numbered);
  ASSERT_TRUE(results) << run.op << results.error().message;
  std::vector<std::pair<std::string, ir::Type>> types;
  for (const Tensor& result : *results) {
    types.push_back({fmt::format("y{}", types.size()), {result.dtype(), result.shape(), {}, {}}});
  }
  const ir::NodeId id = graph.AddNode(
      {.op = &DataOp(run.op), .inputs = ids, .attributes = run.attributes, .results = types});
  const auto mapped = ir::MapQuant(graph, graph.node(id), 0, 0, *graph.type(ids[0]).quant);
  ASSERT_EQ(mapped.has_value(), expect_type) << run.op;
  if (!mapped) return;
  const Tensor& result = (*results)[0];
  for (int64_t k = 0; k < result.size(); ++k) {
    const int64_t stride = mapped->axis ? ir::StridesOf(result.shape())[*mapped->axis] : 1;
    const int64_t c = mapped->axis ? k / stride % result.shape()[*mapped->axis] : 0;
    // Elements added by padding are 0 and have no channel.
    if (result.IntAt(k) == 0) continue;
    EXPECT_EQ(mapped->scale(c), result.FloatAt(k)) << run.op << " at " << k;
  }
}

TEST(Movement, ChannelsFollowTheirElements) {
  CheckAxisRule({"Concat", {Iota({2, 3}), Iota({2, 2})}, {{"axis", int64_t{1}}}}, 1);
  CheckAxisRule({"Concat", {Iota({2, 3}), Iota({2, 2})}, {{"axis", int64_t{1}}}}, 0, false);
  CheckAxisRule(
      {"Slice",
       {Iota({6, 2}), Tensor::Ints({5}), Tensor::Ints({0}), Tensor::Ints({0}), Tensor::Ints({-2})}},
      0);
  CheckAxisRule({"Gather", {Iota({3, 2}), Tensor::Ints({2, 0, -2})}}, 0);
  CheckAxisRule({"Gather", {Iota({3, 2}), Tensor::Of<int64_t>({2, 2}, {0, 1, 0, 2})}}, 1);
  CheckAxisRule({"Gather", {Iota({3, 2}), Tensor::Scalar<int64_t>(2)}}, 0);
  CheckAxisRule({"Gather", {Iota({3, 2}), Tensor::Of<int64_t>({2, 2}, {0, 1, 0, 1})}}, 0);
  CheckAxisRule({"Gather", {Iota({3, 2}), Tensor::Of<int64_t>({2, 2}, {0, 1, 1, 2})}}, 0, false);
  CheckAxisRule({"GatherElements", {Iota({2, 3}), Tensor::Of<int64_t>({1, 2}, {1, 0})}}, 1);
  CheckAxisRule({"GatherElements", {Iota({2, 3}), Tensor::Of<int64_t>({1, 2}, {1, 0})}}, 0, false);
  CheckAxisRule({"Transpose", {Iota({2, 3, 4})}, {{"perm", Ints{2, 0, 1}}}}, 1);
  CheckAxisRule({"Expand", {Iota({2, 1}), Tensor::Ints({3, 2, 2})}}, 0);
  CheckAxisRule({"Expand", {Iota({1, 2}), Tensor::Ints({3, 2})}}, 0);
  CheckAxisRule({"Tile", {Iota({2, 3}), Tensor::Ints({1, 2})}}, 1);
  CheckAxisRule({"Pad", {Iota({2, 3}), Tensor::Ints({0, 1, 1, 2})}}, 1);
  CheckAxisRule(
      {"Pad", {Iota({2, 3}), Tensor::Ints({0, 1, 0, 2})}, {{"mode", std::string("reflect")}}}, 1);
  CheckAxisRule({"DepthToSpace", {Iota({1, 8, 2, 3})}, {{"blocksize", int64_t{2}}}}, 3);
  CheckAxisRule({"DepthToSpace", {Iota({1, 8, 2, 3})}, {{"blocksize", int64_t{2}}}}, 1, false);
  CheckAxisRule({"SpaceToDepth", {Iota({1, 2, 2, 4})}, {{"blocksize", int64_t{2}}}}, 1);
  CheckAxisRule({"SpaceToDepth", {Iota({1, 2, 2, 4})}, {{"blocksize", int64_t{2}}}}, 2, false);
  CheckAxisRule({"Split", {Iota({4, 3}), Tensor::Ints({2, 2})}, {}, 2}, 1);
  CheckAxisRule({"Split", {Iota({4, 3}), Tensor::Ints({2, 2})}, {}, 2}, 0);
  CheckAxisRule({"Reshape", {Iota({2, 3, 4}), Tensor::Ints({6, 2, 2})}}, 1);
  CheckAxisRule({"Unsqueeze", {Iota({2, 3}), Tensor::Ints({1})}}, 1);
}

}  // namespace
}  // namespace octavo::ops
