// SPDX-License-Identifier: Apache-2.0
// LayerNormalization, RMSNormalization and Softmax: each combines x with a reduction of x.
#include <algorithm>
#include <cmath>

#include "core/patterns/match.h"
#include "core/patterns/patterns.h"
#include "core/patterns/reduction.h"

namespace octavo::patterns {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

bool Trailing(const std::vector<int64_t>& axes, size_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(rank - axes.size() + i)) return false;
  }
  return !axes.empty();
}

struct Normalized {
  ValueId x;
  std::vector<int64_t> axes;
  float epsilon = 0;
};

// Matches d = x - Mean(x).
std::optional<Normalized> DeviationOf(const Graph& graph, ValueId d) {
  const Node* sub = ProducerIs(graph, d, "Sub");
  if (sub == nullptr) return std::nullopt;
  const auto axes = ReductionOf(graph, sub->input(1), sub->input(0), "ReduceMean");
  if (!axes) return std::nullopt;
  return Normalized{sub->input(0), *axes};
}

// Matches Sqrt(Mean(d^2) + epsilon); the graph may compute d twice.
std::optional<float> DeviationSize(const Graph& graph, ValueId value, const Normalized& norm) {
  const Node* sqrt = ProducerIs(graph, value, "Sqrt");
  const Node* sum = sqrt ? ProducerIs(graph, sqrt->input(0), "Add") : nullptr;
  if (sum == nullptr) return std::nullopt;
  const auto epsilon = ScalarOf(graph, sum->input(1));
  const Node* mean = ProducerIs(graph, sum->input(0), "ReduceMean");
  if (!epsilon || mean == nullptr || AxesOf(graph, *mean) != norm.axes ||
      !Trail(graph, value).LinesUp(graph.type(norm.x).shape, norm.axes)) {
    return std::nullopt;
  }
  const Node* square = graph.Producer(mean->input(0));
  if (square == nullptr || !square->input(0)) return std::nullopt;
  const ValueId d = square->input(0);
  const auto deviation = DeviationOf(graph, d);
  if (!deviation || deviation->x != norm.x || deviation->axes != norm.axes ||
      !IsSquareOf(graph, mean->input(0), d)) {
    return std::nullopt;
  }
  return epsilon;
}

// d / Sqrt(..), or d * Reciprocal(Sqrt(..)).
std::optional<Normalized> NormalizedOf(const Graph& graph, ValueId value) {
  const Node* node = graph.Producer(value);
  if (!Is(node, "Div") && !Is(node, "Mul")) return std::nullopt;
  auto norm = DeviationOf(graph, node->input(0));
  if (!norm) return std::nullopt;
  ValueId size = node->input(1);
  if (Is(node, "Mul")) {
    const Node* reciprocal = ProducerIs(graph, size, "Reciprocal");
    if (reciprocal == nullptr) return std::nullopt;
    size = reciprocal->input(0);
  }
  const auto epsilon = DeviationSize(graph, size, *norm);
  if (!epsilon) return std::nullopt;
  norm->epsilon = *epsilon;
  return norm;
}

// Matches Sqrt(Mean(x^2) + epsilon) if it broadcasts to x's shape.
std::optional<Normalized> RootMeanSquare(const Graph& graph, ValueId value, ValueId x) {
  const Node* sqrt = ProducerIs(graph, value, "Sqrt");
  const Node* sum = sqrt ? ProducerIs(graph, sqrt->input(0), "Add") : nullptr;
  if (sum == nullptr) return std::nullopt;
  const size_t number = ScalarOf(graph, sum->input(0)) ? 0 : 1;
  const auto epsilon = ScalarOf(graph, sum->input(number));
  const Node* mean = ProducerIs(graph, sum->input(1 - number), "ReduceMean");
  if (!epsilon || mean == nullptr || !IsSquareOf(graph, mean->input(0), x)) return std::nullopt;
  const auto axes = AxesOf(graph, *mean);
  if (!axes || !Trail(graph, value).LinesUp(graph.type(x).shape, *axes)) return std::nullopt;
  return Normalized{x, *axes, *epsilon};
}

// x / root, or x * (1 / root) in any order.
std::optional<Normalized> RootMeanSquareOf(const Graph& graph, ValueId value) {
  const Node* node = graph.Producer(value);
  if (Is(node, "Div")) return RootMeanSquare(graph, node->input(1), node->input(0));
  if (!Is(node, "Mul")) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId root = ReciprocalOf(graph, node->input(i));
    if (!root) continue;
    if (auto norm = RootMeanSquare(graph, root, node->input(1 - i))) return norm;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Form> MatchLayerNorm(Graph& graph, NodeId last) {
  const Node& node = graph.node(last);
  if (!Is(node, "Add")) return std::nullopt;
  const Node* scaled = ProducerIs(graph, node.input(0), "Mul");
  if (scaled == nullptr || graph.CountUses(node.input(0)) != 1) return std::nullopt;
  const auto norm = NormalizedOf(graph, scaled->input(0));
  if (!norm) return std::nullopt;
  const ir::Shape& shape = graph.type(norm->x).shape;
  if (!Trailing(norm->axes, shape.size()) || graph.type(node.result()).shape != shape) {
    return std::nullopt;
  }
  auto scale = AlongAxes(graph, scaled->input(1), shape, norm->axes);
  auto bias = AlongAxes(graph, node.input(1), shape, norm->axes);
  if (!scale || !bias) return std::nullopt;
  const ValueId given_scale = scaled->input(1), given_bias = node.input(1);
  const ValueId g = ConstantFor(graph, given_scale, *std::move(scale), "norm");
  const ValueId b = ConstantFor(graph, given_bias, *std::move(bias), "norm");
  return Form{.inputs = {norm->x, g, b},
              .attributes = {{"axis", norm->axes.front()}, {"epsilon", norm->epsilon}}};
}

// x / Sqrt(Mean(x^2) + e) * g; the quotient may also be a product with the reciprocal.
std::optional<Form> MatchRmsNorm(Graph& graph, NodeId last) {
  const Node& node = graph.node(last);
  if (!Is(node, "Mul") || graph.type(node.result()).dtype != ir::DType::kF32) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId scale = node.input(i);
    if (!graph.IsConstant(scale)) continue;
    const auto norm = RootMeanSquareOf(graph, node.input(1 - i));
    if (!norm || graph.CountUses(node.input(1 - i)) != 1) return std::nullopt;
    if (DeviationOf(graph, norm->x)) return std::nullopt;  // this is part of LayerNormalization
    const ir::Shape& shape = graph.type(norm->x).shape;
    if (!Trailing(norm->axes, shape.size()) || graph.type(node.result()).shape != shape) {
      return std::nullopt;
    }
    auto reshaped = AlongAxes(graph, scale, shape, norm->axes);
    if (!reshaped) return std::nullopt;
    const ValueId g = ConstantFor(graph, scale, *std::move(reshaped), "norm");
    return Form{.inputs = {norm->x, g},
                .attributes = {{"axis", norm->axes.front()}, {"epsilon", norm->epsilon}}};
  }
  return std::nullopt;
}

std::optional<Form> MatchSoftmax(Graph& graph, NodeId last) {
  const Node& node = graph.node(last);
  if (!Is(node, "Div")) return std::nullopt;
  const ValueId e = node.input(0);
  const Node* exp = ProducerIs(graph, e, "Exp");
  if (exp == nullptr || graph.type(node.result()).shape != graph.type(e).shape) return std::nullopt;
  const auto axes = ReductionOf(graph, node.input(1), e, "ReduceSum");
  if (!axes || axes->size() != 1) return std::nullopt;
  ValueId x = exp->input(0);
  // Subtracting the greatest element only limits the range of Exp.
  if (const Node* sub = ProducerIs(graph, x, "Sub")) {
    const auto max_axes = ReductionOf(graph, sub->input(1), sub->input(0), "ReduceMax");
    if (max_axes == axes) x = sub->input(0);
  }
  return Form{.inputs = {x}, .attributes = {{"axis", axes->front()}}};
}

}  // namespace octavo::patterns
