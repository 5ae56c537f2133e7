// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/implicit_relu.h"

#include <algorithm>

#include "core/passes/analysis/clamp.h"
#include "core/passes/analysis/type_range.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Type;
using ir::ValueId;

constexpr Side kSides[] = {Side::kBelowZero, Side::kAboveZero};
// The maximum number of data movement ops to look through.
constexpr int kMaxSteps = 8;

bool RangeEndsAtZero(const ir::Range& range, Side side) {
  return side == Side::kBelowZero ? range.min >= 0 : range.max <= 0;
}

std::string MayBeRelu(std::string_view name) {
  return fmt::format("the range of '{}' ends at zero, so it may act as an implicit Relu", name);
}

bool ProducesNoneWithin(const Graph& graph, const target::Target& target, ValueId value, Side side,
                        int steps) {
  const Node* node = graph.Producer(value);
  if (node == nullptr) return false;
  const auto operand_gives_none = [&](ValueId operand) {
    return steps > 0 && ProducesNoneWithin(graph, target, operand, side, steps - 1);
  };
  if (node->op->domain == "octavo") return operand_gives_none(node->inputs[0]);
  if (node->op->clamps) {
    const auto ends = ClampEnds(graph, *node);
    return ends && RangeEndsAtZero({ends->low, ends->high}, side);
  }
  const ir::QuantRule rule = target.QuantOf(graph, *node);
  if (rule.kind == ir::QuantRule::Kind::kFixed) return RangeEndsAtZero(rule.range, side);
  if (rule.kind != ir::QuantRule::Kind::kSameScale) return false;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    if (!node->inputs[i] || node->op->RoleOf(i) != ir::Role::kData) continue;
    if (!operand_gives_none(node->inputs[i])) return false;
  }
  return true;
}

}  // namespace

bool EndsAtZero(const Type& type, Side side) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  const int64_t end = side == Side::kBelowZero ? range.min : range.max;
  return std::ranges::any_of(type.quant->zero_points, [&](int64_t zero) { return zero == end; });
}

bool HoldsValues(const Type& type, Side side, const numerics::Mode& mode) {
  if (!type.quantized()) return true;
  for (int64_t c = 0; c < std::ssize(type.quant->scales); ++c) {
    const ir::IntegerRange range = PossibleValues(type, c, mode);
    const int64_t zero = type.quant->zero_point(c);
    if (side == Side::kBelowZero ? range.min < zero : range.max > zero) return true;
  }
  return false;
}

bool ProducesNone(const Graph& graph, const target::Target& target, ValueId value, Side side) {
  return ProducesNoneWithin(graph, target, value, side, kMaxSteps);
}

std::string WhyReluStays(const Type& omitted, std::initializer_list<const Type*> kept,
                         const numerics::Mode& mode, std::string_view name) {
  for (const Side side : kSides) {
    const auto holds = [&](const Type* type) { return HoldsValues(*type, side, mode); };
    if (!EndsAtZero(omitted, side) || !std::ranges::all_of(kept, holds)) continue;
    return MayBeRelu(name);
  }
  return {};
}

std::string WhyReluStays(const Graph& graph, const target::Target& target, ValueId value,
                         const Type& omitted, const Type& to) {
  for (const Side side : kSides) {
    if (!EndsAtZero(omitted, side) || !HoldsValues(to, side, *target.numerics)) continue;
    if (ProducesNone(graph, target, value, side)) continue;
    return MayBeRelu(graph.name(value));
  }
  return {};
}

}  // namespace octavo::passes
