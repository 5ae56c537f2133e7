// SPDX-License-Identifier: Apache-2.0
// Reductions, Softmax and normalizations: values by hand.
#include "tests/core/ops/compute_case.h"

namespace octavo::ops {
namespace {

using ir::Tensor;

TEST(Reduce, AxesKeepdimsAndNoop) {
  const Tensor x = Counting({2, 3, 2});
  const ir::AttrMap drop = {{"keepdims", int64_t{0}}};
  const ir::AttrMap noop = {{"noop_with_empty_axes", int64_t{1}}};
  Check({
      {{"ReduceSum", {x, Tensor::Ints({1})}}, {2, 1, 2}, {9, 12, 27, 30}},
      {{"ReduceSum", {x, Tensor::Ints({-1, 0})}, drop}, {3}, {18, 26, 34}},
      {{"ReduceSum", {x}}, {1, 1, 1}, {78}},
      {{"ReduceSum", {x}, drop}, {}, {78}},
      {{"ReduceSum", {x, Tensor::Ints({})}, noop},
       {2, 3, 2},
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
      {{"ReduceSum", {Filled({2, 0}, 0), Tensor::Ints({1})}, drop}, {2}, {0, 0}},
      {{"ReduceMean", {x, Tensor::Ints({1})}, drop}, {2, 2}, {3, 4, 9, 10}},
      {{"ReduceMax", {x, Tensor::Ints({0})}, drop}, {3, 2}, {7, 8, 9, 10, 11, 12}},
      {{"ReduceMin", {x, Tensor::Ints({2})}, drop}, {2, 3}, {1, 3, 5, 7, 9, 11}},
      {{"ReduceProd", {x, Tensor::Ints({2})}, drop}, {2, 3}, {2, 12, 30, 56, 90, 132}},
  });
  EXPECT_EQ(Refusal({"ReduceMax", {Filled({2, 0}, 0), Tensor::Ints({1})}}),
            "ReduceMax 'test': has no elements to choose from");
}

TEST(Reduce, Norms) {
  const Tensor x = Tensor::Of<float>({2, 2}, {3, -4, 0, 2});
  const Tensor last = Tensor::Ints({1});
  const ir::AttrMap drop = {{"keepdims", int64_t{0}}};
  Check({
      {{"ReduceL1", {x, last}, drop}, {2}, {7, 2}},
      {{"ReduceL2", {x, last}, drop}, {2}, {5, 2}},
      {{"ReduceSumSquare", {x, last}, drop}, {2}, {25, 4}},
      {{"ReduceLogSum", {Tensor::Of<float>({1, 2}, {1, 2}), last}, drop},
       {1},
       {1.0986122886681098},
       1e-6},
  });
}

TEST(Reduce, IntegersStayExact) {
  const int64_t big = (int64_t{1} << 53) + 1;
  const auto ints = [](std::string_view op, const Ints& x) {
    const auto results = RunCase({op, {Tensor::Ints(x)}, {{"keepdims", int64_t{0}}}});
    return results ? (*results)[0].ToInts() : Ints{};
  };
  EXPECT_EQ(ints("ReduceSum", {big, 2}), Ints{big + 2});
  EXPECT_EQ(ints("ReduceProd", {big, -3}), Ints{big * -3});
  EXPECT_EQ(ints("ReduceMax", {big, big - 1}), Ints{big});
  EXPECT_EQ(ints("ReduceMin", {big, big - 1}), Ints{big - 1});
  EXPECT_EQ(ints("ReduceSum", {INT64_MAX, 1}), Ints{INT64_MIN});
}

TEST(Softmax, RunsAlongOneAxis) {
  const Tensor x = Tensor::Of<float>({2, 3}, {1, 2, 3, 1000, 1000, 1001});
  const double a = 0.21194155761708547, b = 0.5761168847658291;
  Check({
      {{"Softmax", {x}},
       {2, 3},
       {0.09003057317038046, 0.24472847105479764, 0.6652409557748218, a, a, b},
       1e-7},
      {{"Softmax", {Tensor::Of<float>({2, 2}, {0, 1, 0, 1})}, {{"axis", int64_t{0}}}},
       {2, 2},
       {0.5, 0.5, 0.5, 0.5}},
      {{"LogSoftmax", {Row({1, 2, 3})}},
       {3},
       {-2.4076059644443806, -1.4076059644443806, -0.4076059644443806},
       3e-7},
      {{"Hardmax", {Tensor::Of<float>({2, 3}, {1, 3, 3, 2, 0, 1})}}, {2, 3}, {0, 1, 0, 1, 0, 0}},
  });
}

TEST(Normalization, ScaleAndShiftByChannelRowOrPlane) {
  Check({
      {{"BatchNormalization",
        {Counting({1, 2, 1, 2}), Row({2, 3}), Row({10, 20}), Row({1, 3}), Row({3, 8})},
        {{"epsilon", 1.0f}}},
       {1, 2, 1, 2},
       {10, 11, 20, 21}},
      {{"InstanceNormalization",
        {Tensor::Of<float>({1, 2, 2}, {1, 3, 10, 14}), Row({4, 1}), Row({1, 0})},
        {{"epsilon", 0.0f}}},
       {1, 2, 2},
       {-3, 5, -1, 1}},
      {{"LayerNormalization",
        {Tensor::Of<float>({2, 2}, {1, 3, 5, 5}), Row({4, 2}), Row({1, 1})},
        {{"epsilon", 3.0f}}},
       {2, 2},
       {-1, 2, 1, 1}},
      {{"RMSNormalization",
        {Tensor::Of<float>({2, 2}, {1, 7, 5, 5}), Row({4, 2})},
        {{"epsilon", 0.0f}}},
       {2, 2},
       {0.8, 2.8, 4, 2},
       1e-6},
      {{"LayerNormalization",
        {Tensor::Of<float>({1, 2, 1}, {1, 3}), Tensor::Scalar<float>(2)},
        {{"axis", int64_t{1}}, {"epsilon", 3.0f}}},
       {1, 2, 1},
       {-1, 1}},
  });
  EXPECT_EQ(Refusal({"BatchNormalization",
                     {Counting({1, 2}), Row({1, 1}), Row({1, 1}), Row({1}), Row({1, 1})}}),
            "BatchNormalization 'test': input 3 has shape 1, but must have 2 elements");
}

TEST(Normalization, LayerNormalizationGivesMeanAndInverseDeviation) {
  const auto results = RunCase({"LayerNormalization",
                                {Tensor::Of<float>({2, 2}, {1, 3, 5, 7}), Row({1, 1})},
                                {{"epsilon", 3.0f}},
                                3});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[1], Tensor::Of<float>({2, 1}, {2, 6}));
  EXPECT_EQ((*results)[2], Tensor::Of<float>({2, 1}, {0.5f, 0.5f}));
}

TEST(Normalization, LrnLooksAtNeighbouringChannels) {
  const Tensor x = Counting({1, 3, 1, 1});
  const auto run = [&](int64_t size) {
    return DataCase{
        "LRN",
        {x},
        {{"size", size}, {"alpha", static_cast<float>(size)}, {"beta", 1.0f}, {"bias", 1.0f}}};
  };
  Check({
      {run(3), {1, 3, 1, 1}, {1 / 6.0, 2 / 15.0, 3 / 14.0}, 1e-7},
      // A window of even size covers one channel more upwards than downwards.
      {run(2), {1, 3, 1, 1}, {1 / 6.0, 2 / 14.0, 3 / 10.0}, 1e-7},
  });
}

}  // namespace
}  // namespace octavo::ops
