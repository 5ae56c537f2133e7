// SPDX-License-Identifier: Apache-2.0
// Gelu, HardSigmoid, HardSwish and Swish: products of x, a constant and a function of x, in any
// order.
#include <cmath>

#include "core/patterns/match.h"
#include "core/patterns/patterns.h"

namespace octavo::patterns {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr double kTolerance = 1e-5;

bool Near(double a, double b) { return std::fabs(a - b) <= kTolerance * std::fabs(b); }

// The factors of a product, with all scalar constants multiplied into one.  Splits an inner product
// into its factors only if it has no other consumer.
struct Factors {
  double constant = 1;
  std::vector<ValueId> values = {};
};

void Collect(const Graph& graph, ValueId value, int depth, Factors& factors) {
  if (const auto scalar = ScalarOf(graph, value)) {
    factors.constant *= *scalar;
    return;
  }
  const Node* node = graph.Producer(value);
  const bool product = Is(node, "Mul"), quotient = Is(node, "Div");
  const bool inner = depth == 0 || graph.CountUses(value) == 1;
  if (depth < 4 && inner && product) {
    Collect(graph, node->input(0), depth + 1, factors);
    Collect(graph, node->input(1), depth + 1, factors);
  } else if (depth < 4 && inner && quotient && ScalarOf(graph, node->input(1))) {
    Collect(graph, node->input(0), depth + 1, factors);
    factors.constant /= *ScalarOf(graph, node->input(1));
  } else {
    factors.values.push_back(value);
  }
}

// For an Add with the scalar `addend`: the other operand; else invalid.
ValueId AddendOf(const Graph& graph, ValueId sum, double addend) {
  const Node* node = ProducerIs(graph, sum, "Add");
  if (node == nullptr) return {};
  if (IsScalar(graph, node->input(1), addend)) return node->input(0);
  if (IsScalar(graph, node->input(0), addend)) return node->input(1);
  return {};
}

// For two factors f and x with inner_of(f, x): x.  Tries both orders; invalid if neither matches.
template <class InnerOf>
ValueId OperandOf(const std::vector<ValueId>& factors, InnerOf inner_of) {
  if (factors.size() != 2) return {};
  for (int i = 0; i < 2; ++i) {
    const ValueId x = factors[1 - i];
    if (inner_of(factors[i], x)) return x;
  }
  return {};
}

// Matches the product that ends at `last`; the result's type must equal that of x.
template <class InnerOf>
ValueId MatchProduct(const Graph& graph, NodeId last, double constant, InnerOf inner_of) {
  const Node& node = graph.node(last);
  if (!Is(node, "Mul") && !Is(node, "Div")) return {};
  if (graph.type(node.result()).dtype != ir::DType::kF32) return {};
  Factors factors;
  Collect(graph, node.result(), 0, factors);
  if (!Near(factors.constant, constant)) return {};
  const ValueId x = OperandOf(factors.values, inner_of);
  return x && graph.type(x).shape == graph.type(node.result()).shape ? x : ValueId{};
}

// Whether `value` is factor * x.
bool IsMultiple(const Graph& graph, ValueId value, ValueId x, double factor) {
  Factors factors;
  Collect(graph, value, 0, factors);
  return Near(factors.constant, factor) && factors.values == std::vector{x};
}

bool IsCube(const Graph& graph, ValueId value, ValueId x, double factor) {
  Factors factors;
  Collect(graph, value, 0, factors);
  if (!Near(factors.constant, factor)) return false;
  int64_t power = 0;
  for (const ValueId v : factors.values) {
    const Node* pow = ProducerIs(graph, v, "Pow");
    if (v == x) {
      ++power;
    } else if (pow != nullptr && pow->input(0) == x && ScalarOf(graph, pow->input(1))) {
      power += std::lround(*ScalarOf(graph, pow->input(1)));
    } else if (const Node* square = ProducerIs(graph, v, "Mul");
               square != nullptr && square->input(0) == x && square->input(1) == x) {
      power += 2;
    } else {
      return false;
    }
  }
  return power == 3;
}

}  // namespace

// x * 0.5 * (1 + Erf(x / sqrt(2)))
std::optional<Form> MatchGelu(Graph& graph, NodeId last) {
  const ValueId x = MatchProduct(graph, last, 0.5, [&](ValueId sum, ValueId operand) {
    const Node* erf = ProducerIs(graph, AddendOf(graph, sum, 1), "Erf");
    return erf != nullptr && IsMultiple(graph, erf->input(0), operand, std::sqrt(0.5));
  });
  if (!x) return std::nullopt;
  return Form{.inputs = {x}};
}

// x * 0.5 * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
std::optional<Form> MatchGeluTanh(Graph& graph, NodeId last) {
  const ValueId x = MatchProduct(graph, last, 0.5, [&](ValueId sum, ValueId operand) {
    const Node* tanh = ProducerIs(graph, AddendOf(graph, sum, 1), "Tanh");
    if (tanh == nullptr) return false;
    Factors factors;
    Collect(graph, tanh->input(0), 0, factors);
    if (!Near(factors.constant, std::sqrt(2 / M_PI)) || factors.values.size() != 1) return false;
    const Node* inner = ProducerIs(graph, factors.values[0], "Add");
    if (inner == nullptr) return false;
    const ValueId a = inner->input(0), b = inner->input(1);
    return (a == operand && IsCube(graph, b, operand, 0.044715)) ||
           (b == operand && IsCube(graph, a, operand, 0.044715));
  });
  if (!x) return std::nullopt;
  return Form{.inputs = {x}, .attributes = {{"approximate", std::string("tanh")}}};
}

// x * Clip(x + 3, 0, 6) / 6, or x * HardSigmoid{1/6, 1/2}(x)
std::optional<Form> MatchHardSwish(Graph& graph, NodeId last) {
  ValueId x = MatchProduct(graph, last, 1.0 / 6, [&](ValueId clipped, ValueId operand) {
    const Node* clip = ProducerIs(graph, clipped, "Clip");
    return clip != nullptr && ScalarOf(graph, clip->input(1)) == 0.0f &&
           ScalarOf(graph, clip->input(2)) == 6.0f && AddendOf(graph, clip->input(0), 3) == operand;
  });
  if (!x) {
    x = MatchProduct(graph, last, 1, [&](ValueId value, ValueId operand) {
      const Node* sigmoid = ProducerIs(graph, value, "HardSigmoid");
      return sigmoid != nullptr && sigmoid->input(0) == operand &&
             Near(sigmoid->attributes.Float("alpha", 0.2f), 1.0 / 6) &&
             Near(sigmoid->attributes.Float("beta", 0.5f), 0.5);
    });
  }
  if (!x) return std::nullopt;
  return Form{.inputs = {x}};
}

// Clip(k * x + m, 0, n) / n.  Without k and m, n must not be 1: that would be a plain clamp.
std::optional<Form> MatchHardSigmoid(Graph& graph, NodeId last) {
  const Node& node = graph.node(last);
  const ir::Type& type = graph.type(node.result());
  const bool quotient = Is(node, "Mul") || Is(node, "Div");
  if ((!quotient && !Is(node, "Clip")) || type.dtype != ir::DType::kF32) return std::nullopt;
  Factors outer;
  Collect(graph, node.result(), 0, outer);
  if (outer.values.size() != 1) return std::nullopt;
  const Node* clip = ProducerIs(graph, outer.values[0], "Clip");
  if (clip == nullptr || ScalarOf(graph, clip->input(1)) != 0.0f) return std::nullopt;
  const auto most = ScalarOf(graph, clip->input(2));
  if (!most || !Near(outer.constant * *most, 1)) return std::nullopt;
  ValueId x = clip->input(0);
  double shift = 0, factor = 1;
  if (const Node* sum = ProducerIs(graph, x, "Add")) {
    const size_t number = ScalarOf(graph, sum->input(0)) ? 0 : 1;
    if (const auto m = ScalarOf(graph, sum->input(number))) {
      shift = *m;
      x = sum->input(1 - number);
    }
  }
  Factors inner;
  Collect(graph, x, 0, inner);
  if (inner.values.size() == 1) {
    x = inner.values[0];
    factor = inner.constant;
  }
  const bool clamps = shift == 0 && factor == 1 && !quotient;
  if (clamps || graph.type(x).shape != type.shape) return std::nullopt;
  return Form{.inputs = {x},
              .attributes = {{"alpha", static_cast<float>(outer.constant * factor)},
                             {"beta", static_cast<float>(outer.constant * shift)}}};
}

// x * Sigmoid(a * x)
std::optional<Form> MatchSwish(Graph& graph, NodeId last) {
  double alpha = 0;
  const ValueId x = MatchProduct(graph, last, 1, [&](ValueId gate, ValueId operand) {
    const Node* sigmoid = ProducerIs(graph, gate, "Sigmoid");
    if (sigmoid == nullptr) return false;
    if (sigmoid->input(0) == operand) {
      alpha = 1;
      return true;
    }
    Factors factors;
    Collect(graph, sigmoid->input(0), 0, factors);
    alpha = factors.constant;
    return factors.values == std::vector{operand};
  });
  if (!x || !std::isfinite(static_cast<float>(alpha))) return std::nullopt;
  Form form{.inputs = {x}};
  if (alpha != 1) form.attributes.Set("alpha", static_cast<float>(alpha));
  return form;
}

}  // namespace octavo::patterns
