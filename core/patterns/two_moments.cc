// SPDX-License-Identifier: Apache-2.0
// LayerNormalization with the variance as the mean of squares minus the square of the mean, which
// Flax and Haiku export.  Each of the two has a wide range, and their difference few correct bits.
#include <algorithm>
#include <numeric>

#include "core/patterns/match.h"
#include "core/patterns/patterns.h"
#include "core/patterns/reduction.h"

namespace octavo::patterns {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr int kMostFactors = 3;

struct Factor {
  ValueId value;
  bool divides = false;
};

// The factors of a product: operands of Mul and Div, also of those within that nothing else reads.
std::vector<Factor> FactorsOf(const Graph& graph, const Node& product) {
  std::vector<Factor> factors = {{product.input(0), false}, {product.input(1), Is(product, "Div")}};
  for (size_t i = 0; i < factors.size() && factors.size() < kMostFactors;) {
    const Node* inner = factors[i].divides ? nullptr : graph.Producer(factors[i].value);
    if ((!Is(inner, "Mul") && !Is(inner, "Div")) || graph.CountUses(factors[i].value) != 1 ||
        ReciprocalOf(graph, factors[i].value)) {
      ++i;
      continue;
    }
    factors[i] = {inner->input(0), false};
    factors.push_back({inner->input(1), Is(inner, "Div")});
  }
  return factors;
}

struct Mean {
  ValueId x;
  std::vector<int64_t> axes = {};
};

// ReduceMean, or ReduceSum times or divided by the number of elements.
std::optional<Mean> MeanOf(const Graph& graph, Trail& trail, ValueId value) {
  const Node* node = trail.Behind(value);
  if (node == nullptr) return std::nullopt;
  if (Is(node, "ReduceMean")) {
    auto axes = AxesOf(graph, *node);
    if (!axes) return std::nullopt;
    return Mean{node->input(0), *std::move(axes)};
  }
  if (!Is(node, "Mul") && !Is(node, "Div")) return std::nullopt;
  const size_t number = Is(node, "Mul") && ScalarOf(graph, node->input(0)) ? 0 : 1;
  const Node* sum = trail.Behind(node->input(1 - number));
  if (!Is(sum, "ReduceSum")) return std::nullopt;
  auto axes = AxesOf(graph, *sum);
  if (!axes) return std::nullopt;
  double count = 1;
  for (const int64_t axis : *axes) {
    count *= static_cast<double>(graph.type(sum->input(0)).shape[static_cast<size_t>(axis)]);
  }
  const double factor = Is(node, "Mul") ? 1 / count : count;
  if (!IsScalar(graph, node->input(number), factor)) return std::nullopt;
  return Mean{sum->input(0), *std::move(axes)};
}

// The other operand, if one operand of the binary node is a scalar that `is` accepts.
template <class Predicate>
ValueId NextToScalar(const Graph& graph, const Node& node, const Predicate& is) {
  if (node.inputs.size() != 2) return {};
  for (size_t i = 0; i < 2; ++i) {
    const auto scalar = ScalarOf(graph, node.input(i));
    if (scalar && is(*scalar)) return node.input(1 - i);
  }
  return {};
}

// A bound of 0, which no variance is below.
ValueId Bounded(const Graph& graph, const Node& node) {
  if (Is(node, "Relu")) return node.input(0);
  if (!Is(node, "Max")) return {};
  return NextToScalar(graph, node, [](float scalar) { return scalar == 0; });
}

struct Deviation {
  ValueId x;
  std::vector<int64_t> axes = {};
  float epsilon = 0;
};

// Matches `used` = Sqrt(Mean(x^2) - Mean(x)^2 + epsilon), or its reciprocal with `root` = the Sqrt.
std::optional<Deviation> DeviationOf(const Graph& graph, ValueId used, ValueId root) {
  Trail trail(graph, used);
  const Node* sqrt = trail.Behind(root);
  if (!Is(sqrt, "Sqrt")) return std::nullopt;
  const Node* sum = trail.Behind(sqrt->input(0));
  if (!Is(sum, "Add")) return std::nullopt;
  Deviation deviation;
  const ValueId variance = NextToScalar(graph, *sum, [&](float scalar) {
    deviation.epsilon = scalar;
    return scalar >= 0;
  });
  if (!variance) return std::nullopt;
  const Node* difference = trail.Behind(variance);
  if (difference == nullptr) return std::nullopt;
  if (const ValueId bounded = Bounded(graph, *difference)) difference = trail.Behind(bounded);
  if (!Is(difference, "Sub")) return std::nullopt;
  const auto squares = MeanOf(graph, trail, difference->input(0));
  const Node* square = graph.Producer(difference->input(1));
  if (!squares || square == nullptr || !square->input(0)) return std::nullopt;
  const auto mean = MeanOf(graph, trail, square->input(0));
  if (!mean || mean->axes != squares->axes ||
      !IsSquareOf(graph, difference->input(1), square->input(0)) ||
      !IsSquareOf(graph, squares->x, mean->x) ||
      !trail.LinesUp(graph.type(mean->x).shape, mean->axes)) {
    return std::nullopt;
  }
  deviation.x = mean->x;
  deviation.axes = mean->axes;
  return deviation;
}

// Whether `value` is x minus its mean along the axes.
bool IsCentred(const Graph& graph, ValueId value, const Deviation& deviation) {
  const Node* sub = ProducerIs(graph, value, "Sub");
  if (sub == nullptr || sub->input(0) != deviation.x) return false;
  Trail trail(graph, sub->input(1));
  const auto mean = MeanOf(graph, trail, sub->input(1));
  return mean && mean->x == deviation.x && mean->axes == deviation.axes &&
         trail.LinesUp(graph.type(deviation.x).shape, deviation.axes);
}

// The order of x's axes with the normalized ones last; empty if it is the own order.
std::vector<int64_t> OrderOf(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<int64_t> own(rank), order;
  std::iota(own.begin(), own.end(), 0);
  for (const int64_t axis : own) {
    if (std::ranges::count(axes, axis) == 0) order.push_back(axis);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  if (order == own) order.clear();
  return order;
}

// The root that x is divided by, among the factors; the others are x - Mean(x) and a constant.
std::optional<Deviation> RootAmong(const Graph& graph, const std::vector<Factor>& factors,
                                   ValueId& scale) {
  if (factors.size() != kMostFactors) return std::nullopt;
  std::optional<Deviation> deviation;
  for (const Factor& factor : factors) {
    const ValueId root = factor.divides ? factor.value : ReciprocalOf(graph, factor.value);
    if (root && !deviation) deviation = DeviationOf(graph, factor.value, root);
  }
  if (!deviation) return std::nullopt;
  bool centred = false;
  for (const Factor& factor : factors) {
    if (factor.divides) continue;
    if (graph.IsConstant(factor.value)) scale = factor.value;
    centred |= IsCentred(graph, factor.value, *deviation);
  }
  if (!centred || !scale) return std::nullopt;
  return deviation;
}

}  // namespace

std::optional<Form> MatchTwoMomentNorm(Graph& graph, NodeId last) {
  const Node& node = graph.node(last);
  if (!Is(node, "Add") || graph.type(node.result()).dtype != ir::DType::kF32) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId bias = node.input(1 - i);
    const Node* product = graph.Producer(node.input(i));
    if ((!Is(product, "Mul") && !Is(product, "Div")) || !graph.IsConstant(bias) ||
        graph.CountUses(node.input(i)) != 1) {
      continue;
    }
    ValueId scale;
    const auto norm = RootAmong(graph, FactorsOf(graph, *product), scale);
    if (!norm || graph.type(norm->x).shape != graph.type(node.result()).shape) continue;
    const ir::Shape& shape = graph.type(norm->x).shape;
    auto g = AlongAxes(graph, scale, shape, norm->axes);
    auto b = AlongAxes(graph, bias, shape, norm->axes);
    if (!g || !b) continue;
    const size_t rank = shape.size();
    const ValueId g_id = ConstantFor(graph, scale, *std::move(g), "norm");
    const ValueId b_id = ConstantFor(graph, bias, *std::move(b), "norm");
    return Form{.inputs = {norm->x, g_id, b_id},
                .attributes = {{"axis", static_cast<int64_t>(rank - norm->axes.size())},
                               {"epsilon", norm->epsilon}},
                .order = OrderOf(norm->axes, rank)};
  }
  return std::nullopt;
}

}  // namespace octavo::patterns
