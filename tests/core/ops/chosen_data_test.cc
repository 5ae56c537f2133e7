// SPDX-License-Identifier: Apache-2.0
// Ops whose result's extent depends on data, ops that scatter, and bitwise ops.
#include <gtest/gtest.h>

#include "tests/core/ops/compute_case.h"

namespace octavo::ops {
namespace {

using ir::Tensor;

TEST(ChosenData, ExtentsFollowKnownData) {
  const Tensor x = Tensor::Of<float>({2, 3}, {0, 5, 0, 7, 0, 5});
  const Tensor some = Tensor::Of<bool>({3}, {true, false, true});
  Check({{{"NonZero", {x}}, {2, 3}, {0, 1, 1, 1, 0, 2}},
         {{"Compress", {x, some}, {{"axis", int64_t{1}}}}, {2, 2}, {0, 0, 7, 5}},
         {{"Compress", {x, some}}, {2}, {0, 0}},
         {{"Unique", {x}}, {3}, {0, 5, 7}},
         {{"Unique", {Row({5, 0, 5, 7})}, {{"sorted", int64_t{0}}}}, {3}, {5, 0, 7}}});
}

TEST(ChosenData, UniqueGivesPlacesAndCounts) {
  const auto results = RunCase({"Unique", {Row({5, 0, 5, 7})}, {}, 4});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ((*results)[1].ToInts(), Ints({1, 0, 3}));
  EXPECT_EQ((*results)[2].ToInts(), Ints({1, 0, 1, 2}));
  EXPECT_EQ((*results)[3].ToInts(), Ints({1, 2, 1}));
}

TEST(ChosenData, UnknownDataIsRefusedByName) {
  ir::Graph graph;
  const ir::ValueId x = graph.AddInput("x", {ir::DType::kF32, {4}, {}, {}});
  const ir::NodeId id =
      graph.AddNode({.name = "n", .op = &DataOp("NonZero"), .inputs = {x}, .results = {{"y", {}}}});
  const auto types = ir::Inference(graph).Infer(id);
  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().code, Code::kUnimplemented);
  EXPECT_EQ(types.error().reason, ir::kDependsOnData);
  EXPECT_EQ(types.error().field, "x");
}

TEST(ChosenData, ScatterReducesInOrder) {
  const Tensor zeros = Filled({4}, 1), at = Tensor::Ints({1, -1, 1}), updates = Row({2, 3, 4});
  const auto with = [&](const char* how) {
    return DataCase{"ScatterElements", {zeros, at, updates}, {{"reduction", std::string(how)}}};
  };
  const Tensor rows = Tensor::Of<int64_t>({2, 1}, {1, 0});
  Check({{with("none"), {4}, {1, 4, 1, 3}},
         {with("add"), {4}, {1, 7, 1, 4}},
         {with("mul"), {4}, {1, 8, 1, 3}},
         {with("max"), {4}, {1, 4, 1, 3}},
         {with("min"), {4}, {1, 1, 1, 1}},
         {{"ScatterND", {Filled({2, 2}, 0), rows, Counting({2, 2})}}, {2, 2}, {3, 4, 1, 2}}});
  EXPECT_NE(Refusal(with("mean")).find("reduction 'mean' is unknown"), std::string::npos);
  EXPECT_NE(Refusal({"ScatterElements", {zeros, Tensor::Ints({4}), Row({1})}})
                .find("index 4 is outside of extent 4"),
            std::string::npos);
}

TEST(ChosenData, BitwiseOpsOfIntegers) {
  const Tensor a = Tensor::Of<uint8_t>({3}, {0xf0, 3, 1}),
               b = Tensor::Of<uint8_t>({3}, {0x3c, 1, 9});
  const auto shifted = [&](const char* direction) {
    return DataCase{"BitShift", {a, b}, {{"direction", std::string(direction)}}};
  };
  Check({{{"BitwiseAnd", {a, b}}, {3}, {0x30, 1, 1}},
         {{"BitwiseOr", {a, b}}, {3}, {0xfc, 3, 9}},
         {{"BitwiseXor", {a, b}}, {3}, {0xcc, 2, 8}},
         {{"BitwiseNot", {a}}, {3}, {0x0f, 252, 254}},
         {shifted("LEFT"), {3}, {0, 6, 0}},
         {shifted("RIGHT"), {3}, {0, 1, 0}}});
}

TEST(ChosenData, OfOverlappingBoxesTheBestStays) {
  const Tensor boxes = Tensor::Of<float>({1, 3, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 5, 1, 6});
  const Tensor scores = Tensor::Of<float>({1, 1, 3}, {0.8f, 0.9f, 0.5f});
  Check({{{"NonMaxSuppression",
           {boxes, scores, Tensor::Scalar<int64_t>(3), Tensor::Scalar<float>(0.5f)}},
          {2, 3},
          {0, 0, 1, 0, 0, 2}},
         {{"NonMaxSuppression", {boxes, scores}}, {0, 3}, {}}});
}

}  // namespace
}  // namespace octavo::ops
