// SPDX-License-Identifier: Apache-2.0
// L2 normalization: x divided by the square root of its sum of squares along one axis, with or
// without an epsilon that keeps the divisor away from 0 (core/ops/shared/lp_norm.h).
#include <array>
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

struct Epsilon {
  float value = 0;
  bool added = false;  // true: added to the operand; false: a lower bound
  ValueId operand = {};
};

// Matches Max, Clip or Add of a value and a constant >= 0.
std::optional<Epsilon> EpsilonOf(const Graph& graph, const Node* node) {
  const bool added = Is(node, "Add");
  if (!added && !Is(node, "Max") && !Is(node, "Clip")) return std::nullopt;
  size_t number = 1;
  if (Is(node, "Clip")) {
    if (node->input(2)) return std::nullopt;
  } else if (node->inputs.size() != 2) {
    return std::nullopt;
  } else if (ScalarOf(graph, node->input(0))) {
    number = 0;
  }
  const auto value = ScalarOf(graph, node->input(number));
  if (!value || !(*value >= 0) || std::isinf(*value)) return std::nullopt;
  return Epsilon{*value, added, node->input(1 - number)};
}

struct Norm {
  std::vector<int64_t> axes = {};
  float epsilon = 0;
  std::string mode = "max";
};

// If the node computes the sum of squares of x: its axes.
std::optional<std::vector<int64_t>> SquaresOf(const Graph& graph, const Node* node, ValueId x) {
  const bool squares = Is(node, "ReduceSumSquare") && node->input(0) == x;
  const bool sum = Is(node, "ReduceSum") && IsSquareOf(graph, node->input(0), x);
  return squares || sum ? AxesOf(graph, *node) : std::nullopt;
}

// The operand if the node is a square root; else invalid.
ValueId Rooted(const Graph& graph, const Node* node) {
  if (Is(node, "Sqrt")) return node->input(0);
  if (Is(node, "Pow") && IsScalar(graph, node->input(1), 0.5)) return node->input(0);
  return {};
}

// Matches `value` as a norm of x whose shape broadcasts to x.
std::optional<Norm> NormOf(const Graph& graph, ValueId value, ValueId x) {
  Trail trail(graph, value);
  Norm norm;
  const Node* node = trail.Behind(value);
  const auto outside = EpsilonOf(graph, node);
  if (outside) {
    norm.epsilon = outside->value;
    if (outside->added) norm.mode = "add";
    node = trail.Behind(outside->operand);
  }
  std::optional<std::vector<int64_t>> axes;
  if (Is(node, "ReduceL2")) {
    if (node->input(0) == x) axes = AxesOf(graph, *node);
  } else if (const ValueId rooted = Rooted(graph, node)) {
    node = trail.Behind(rooted);
    if (const auto inside = EpsilonOf(graph, node)) {
      if (outside) return std::nullopt;
      norm.epsilon = inside->added ? inside->value : std::sqrt(inside->value);
      if (inside->added) norm.mode = "inside";
      node = trail.Behind(inside->operand);
    }
    axes = SquaresOf(graph, node, x);
  }
  if (!axes || axes->size() != 1 || !trail.LinesUp(graph.type(x).shape, *axes)) return std::nullopt;
  norm.axes = *std::move(axes);
  return norm;
}

}  // namespace

std::optional<Form> MatchL2Norm(Graph& graph, NodeId last) {
  const Node& node = graph.node(last);
  if (!Is(node, "Div") && !Is(node, "Mul")) return std::nullopt;
  const ir::Type& type = graph.type(node.result());
  if (type.dtype != ir::DType::kF32) return std::nullopt;
  const ValueId a = node.input(0), b = node.input(1);
  std::array<std::pair<ValueId, ValueId>, 2> quotients = {{{a, b}, {}}};
  if (Is(node, "Mul")) {
    quotients = {{{a, ReciprocalOf(graph, b)}, {b, ReciprocalOf(graph, a)}}};
  }
  for (const auto& [x, divisor] : quotients) {
    if (!x || !divisor || graph.type(x).shape != type.shape) continue;
    const auto norm = NormOf(graph, divisor, x);
    if (!norm) continue;
    Form form{.inputs = {x}, .attributes = {{"axis", norm->axes.front()}, {"p", int64_t{2}}}};
    if (norm->epsilon != 0) {
      form.attributes.Set("epsilon", norm->epsilon);
      form.attributes.Set("epsilon_mode", norm->mode);
    }
    return form;
  }
  return std::nullopt;
}

}  // namespace octavo::patterns
