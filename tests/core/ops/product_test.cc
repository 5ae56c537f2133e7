// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul: values by hand.
#include "tests/core/ops/compute_case.h"

namespace octavo::ops {
namespace {

using ir::Tensor;

TEST(Gemm, TransposesScalesAndAddsABroadcastAddend) {
  const Tensor a = Counting({2, 2}), b = Counting({2, 2}, 5);
  Check({
      {{"Gemm", {a, b}}, {2, 2}, {19, 22, 43, 50}},
      {{"Gemm", {a, b}, {{"transA", int64_t{1}}}}, {2, 2}, {26, 30, 38, 44}},
      {{"Gemm", {a, b}, {{"transB", int64_t{1}}}}, {2, 2}, {17, 23, 39, 53}},
      {{"Gemm", {a, b, Row({1, 10})}, {{"alpha", 0.5f}, {"beta", 2.0f}}},
       {2, 2},
       {11.5, 31, 23.5, 45}},
      {{"Gemm", {a, b, Tensor::Of<float>({2, 1}, {1, 10})}}, {2, 2}, {20, 23, 53, 60}},
      {{"Gemm", {a, b, Tensor::Scalar<float>(1)}}, {2, 2}, {20, 23, 44, 51}},
      {{"Gemm", {Counting({3, 1}), Counting({3, 2})}, {{"transA", int64_t{1}}}}, {1, 2}, {22, 28}},
  });
  EXPECT_EQ(Refusal({"Gemm", {a, Counting({3, 2})}}), "Gemm 'test': inner extents 2 and 3 differ");
  EXPECT_EQ(Refusal({"Gemm", {a, b, Row({1, 2, 3})}}),
            "Gemm 'test': c of shape 3 does not broadcast to 2x2");
}

TEST(MatMul, VectorsAreRowsOnTheLeftAndColumnsOnTheRight) {
  const Tensor matrix = Counting({2, 3}), vector = Row({1, 10, 100});
  Check({
      {{"MatMul", {matrix, vector}}, {2}, {321, 654}},
      {{"MatMul", {Row({1, 10}), matrix}}, {3}, {41, 52, 63}},
      {{"MatMul", {vector, vector}}, {}, {10101}},
  });
}

TEST(MatMul, BatchesBroadcast) {
  const Tensor a = Counting({2, 1, 1, 2});
  const Tensor b = Tensor::Of<float>({3, 2, 1}, {1, 1, 2, 0, 0, 1});
  Check({
      {{"MatMul", {a, b}}, {2, 3, 1, 1}, {3, 2, 2, 7, 6, 4}},
      {{"MatMul", {Counting({2, 1, 2}), Counting({2, 2, 1})}}, {2, 1, 1}, {5, 25}},
      {{"MatMul", {Filled({2, 0}, 1), Filled({0, 2}, 1)}}, {2, 2}, {0, 0, 0, 0}},
  });
  EXPECT_EQ(Refusal({"MatMul", {Counting({2, 3}), Counting({2, 3})}}),
            "MatMul 'test': operands of shapes 2x3 and 2x3 have different inner extents");
}

TEST(Products, OtherElementTypesHaveTheirOwnArithmetic) {
  const auto doubles = [](const ir::Shape& shape, const std::vector<double>& values) {
    return ir::Tensor::Of<double>(shape, values);
  };
  const ir::Tensor a = doubles({1, 2}, {1, 0x1p-40}), b = doubles({2, 1}, {1, 1});
  const ir::Tensor bytes = ir::Tensor::Of<int32_t>({1, 2}, {-3, 4});
  Check({{{"MatMul", {a, b}}, {1, 1}, {1 + 0x1p-40}},
         {{"Gemm", {a, b, doubles({1}, {-1})}}, {1, 1}, {0x1p-40}},
         {{"Conv", {doubles({1, 1, 2}, {1, 0x1p-40}), doubles({1, 1, 2}, {1, 1})}},
          {1, 1, 1},
          {1 + 0x1p-40}},
         {{"ConvTranspose", {doubles({1, 1, 1}, {0x1p-40}), doubles({1, 1, 2}, {1, 3})}},
          {1, 1, 2},
          {0x1p-40, 3 * 0x1p-40}},
         {{"MatMul", {bytes, ir::Tensor::Of<int32_t>({2, 1}, {5, 6})}}, {1, 1}, {9}}});
  EXPECT_NE(Refusal({"Gemm", {a, b, Row({1})}}).find("must have one type"), std::string::npos);
}

}  // namespace
}  // namespace octavo::ops
