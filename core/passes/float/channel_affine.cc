// SPDX-License-Identifier: Apache-2.0
#include "core/passes/float/channel_affine.h"

#include <cmath>

#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

// One double per channel from a float constant that, broadcast to `shape`, has one element or one
// per channel; nullopt if it varies along another axis or widens the shape.
std::optional<std::vector<double>> PerChannel(const Graph& graph, ValueId value,
                                              const ir::Shape& shape, size_t axis) {
  const ir::Tensor* tensor = ConstantOf(graph, value);
  if (tensor == nullptr || tensor->dtype() != ir::DType::kF32) return std::nullopt;
  if (tensor->shape().size() > shape.size()) return std::nullopt;
  const size_t shift = shape.size() - tensor->shape().size();
  bool per_channel = false;
  for (size_t i = 0; i < tensor->shape().size(); ++i) {
    if (tensor->shape()[i] == 1) continue;
    if (i + shift != axis || tensor->shape()[i] != shape[axis]) return std::nullopt;
    per_channel = true;
  }
  std::vector<double> values(shape[axis]);
  for (size_t c = 0; c < values.size(); ++c) {
    values[c] = tensor->FloatAt(per_channel ? static_cast<int64_t>(c) : 0);
  }
  return values;
}

std::optional<ChannelAffine> FromBatchNorm(const Graph& graph, const Node& node, size_t axis) {
  if (axis != 1 || node.attributes.Int("training_mode", 0) != 0) return std::nullopt;
  for (size_t i = 1; i < node.results.size(); ++i) {
    if (graph.CountUses(node.results[i]) > 0) return std::nullopt;
  }
  std::array<const ir::Tensor*, 4> parameters = {};
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = ConstantOf(graph, node.input(i + 1));
    if (parameters[i] == nullptr || parameters[i]->dtype() != ir::DType::kF32) return std::nullopt;
  }
  const auto& [gamma, beta, mean, variance] = parameters;
  const double epsilon = node.attributes.Float("epsilon", 1e-5f);
  ChannelAffine affine{.scales = true, .shifts = true, .shift_constant = node.input(2)};
  for (int64_t c = 0; c < gamma->size(); ++c) {
    affine.scale.push_back(gamma->FloatAt(c) / std::sqrt(variance->FloatAt(c) + epsilon));
    affine.shift.push_back(beta->FloatAt(c) - mean->FloatAt(c) * affine.scale.back());
  }
  return affine;
}

}  // namespace

std::optional<ChannelAffine> ChannelAffineOf(const Graph& graph, const Node& node, size_t axis) {
  if (!node.input(0) || graph.type(node.input(0)).quantized()) return std::nullopt;
  const ir::Shape& shape = graph.type(node.input(0)).shape;
  if (axis >= shape.size()) return std::nullopt;
  if (Is(node, "BatchNormalization")) return FromBatchNorm(graph, node, axis);
  const bool multiplies = Is(node, "Mul");
  if (!multiplies && !Is(node, "Add")) return std::nullopt;
  if (graph.type(node.result()).shape != shape) return std::nullopt;
  auto values = PerChannel(graph, node.input(1), shape, axis);
  if (!values) return std::nullopt;
  ChannelAffine affine{.scales = multiplies, .shifts = !multiplies};
  affine.scale.assign(shape[axis], 1.0);
  affine.shift.assign(shape[axis], 0.0);
  (multiplies ? affine.scale : affine.shift) = *std::move(values);
  if (!multiplies) affine.shift_constant = node.input(1);
  return affine;
}

}  // namespace octavo::passes
