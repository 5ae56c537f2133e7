// SPDX-License-Identifier: Apache-2.0
// x divided by the root of the sum of its squares along one axis, with or without a number that
// keeps the divisor away from 0 (core/ops/lp_norm.h).
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
  bool added = false;  // else it is a lower bound of the operand
  ValueId operand = {};
};

// Max, Clip or Add of a value and a number from 0 on.
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

// The axes of the sum of squares that a node computes of x.
std::optional<std::vector<int64_t>> SquaresOf(const Graph& graph, const Node* node, ValueId x) {
  const bool squares = Is(node, "ReduceSumSquare") && node->input(0) == x;
  const bool sum = Is(node, "ReduceSum") && IsSquareOf(graph, node->input(0), x);
  return squares || sum ? AxesOf(graph, *node) : std::nullopt;
}

// The operand of a square root; none for another node.
ValueId Rooted(const Graph& graph, const Node* node) {
  if (Is(node, "Sqrt")) return node->input(0);
  if (Is(node, "Pow") && IsScalar(graph, node->input(1), 0.5)) return node->input(0);
  return {};
}

// `value` as a norm of x that lines up with it.
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
