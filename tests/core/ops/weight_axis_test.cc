// SPDX-License-Identifier: Apache-2.0
// Tests the weight axis of each product by its meaning: doubling channel c of the weight doubles
// exactly the outputs of channel c.
#include <gtest/gtest.h>

#include <random>

#include "tests/core/ops/data_case.h"

namespace octavo::ops {
namespace {

using ir::Shape;
using ir::Tensor;
using Ints = std::vector<int64_t>;

struct Product {
  std::string_view op = {};
  Shape data = {}, weight = {};
  ir::AttrMap attributes = {};
  int result_axis = 1;  // axis of the output channels
};

// Whole numbers, so that sums are exact.
Tensor Numbers(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor(ir::DType::kF32, shape);
  for (float& x : tensor.mutable_values<float>()) x = static_cast<float>(random() % 9) + 1;
  return tensor;
}

int WeightAxisOf(const Product& product) {
  ir::Graph graph;
  const auto add = [&](std::string name, const Shape& shape) {
    return graph.AddInput(std::move(name), {ir::DType::kF32, shape, {}, {}});
  };
  const std::vector<ir::ValueId> ids = {add("x", product.data), add("w", product.weight)};
  const auto types = ir::InferNode(graph, DataOp(product.op), "n", ids, product.attributes, 1);
  if (!types) return ADD_FAILURE() << types.error().message, -1;
  const ir::NodeId id = graph.AddNode({.op = &DataOp(product.op),
                                       .inputs = ids,
                                       .attributes = product.attributes,
                                       .results = {{"y", (*types)[0]}}});
  return graph.node(id).op->weight_axis(graph, graph.node(id), 1);
}

void CheckProduct(const Product& product) {
  const int axis = WeightAxisOf(product);
  ASSERT_GE(axis, 0) << product.op;
  const Tensor data = Numbers(product.data, 1), weight = Numbers(product.weight, 2);
  const auto before = RunCase({product.op, {data, weight}, product.attributes});
  ASSERT_TRUE(before) << product.op << before.error().message;
  const int64_t channels = product.weight[axis];
  for (int64_t c = 0; c < channels; ++c) {
    Tensor doubled = weight.Clone();
    const int64_t stride = ir::StridesOf(product.weight)[axis];
    for (int64_t k = 0; k < doubled.size(); ++k) {
      if (k / stride % channels == c) doubled.mutable_values<float>()[k] *= 2;
    }
    const auto after = RunCase({product.op, {data, doubled}, product.attributes});
    ASSERT_TRUE(after) << product.op;
    const Shape& shape = (*after)[0].shape();
    const int64_t out_stride = ir::StridesOf(shape)[product.result_axis];
    for (int64_t k = 0; k < (*after)[0].size(); ++k) {
      // A weight channel of a grouped ConvTranspose applies to one channel of each group.
      const bool own = k / out_stride % shape[product.result_axis] % channels == c;
      ASSERT_EQ((*after)[0].FloatAt(k), (own ? 2 : 1) * (*before)[0].FloatAt(k))
          << product.op << " channel " << c << " at " << k;
    }
  }
}

TEST(WeightAxis, DecidesTheOutputsOfItsChannel) {
  const ir::AttrMap two_groups = {{"group", int64_t{2}}};
  CheckProduct({"Conv", {1, 2, 4, 4}, {3, 2, 2, 2}});
  CheckProduct({"Conv", {1, 4, 3, 3}, {6, 2, 2, 2}, two_groups});
  CheckProduct({"Conv", {2, 3, 5}, {4, 3, 3}});
  CheckProduct({"ConvTranspose", {1, 2, 3, 3}, {2, 3, 2, 2}});
  CheckProduct({"ConvTranspose", {1, 4, 3, 3}, {4, 3, 2, 2}, two_groups});
  CheckProduct({"Gemm", {2, 3}, {3, 4}});
  CheckProduct({"Gemm", {2, 3}, {4, 3}, {{"transB", int64_t{1}}}});
  CheckProduct({"Gemm", {3, 2}, {4, 3}, {{"transA", int64_t{1}}, {"transB", int64_t{1}}}});
  CheckProduct({"MatMul", {2, 3}, {3, 4}});
  CheckProduct({.op = "MatMul", .data = {5, 2, 3}, .weight = {5, 3, 4}, .result_axis = 2});
  CheckProduct({.op = "MatMul", .data = {5, 2, 3}, .weight = {3, 4}, .result_axis = 2});
  CheckProduct({.op = "MatMul", .data = {3}, .weight = {2, 3, 4}, .result_axis = 1});
}

}  // namespace
}  // namespace octavo::ops
