// A Swish as a gate and a product, for targets that have only those in integers.
#pragma once

#include "core/passes/pass.h"
#include "core/passes/value_ranges.h"

namespace octavo::passes {

inline constexpr Rule kSwishIsProduct = {
    "swish", "Swish{alpha}(x) -> Mul(x, Sigmoid(alpha*x))", Effect::kRealExact,
    "the target lowers Swish, or computes Sigmoid and Mul in integers but not Swish"};

// Applies it to `id` where it holds.
void LowerSwish(ir::Graph& graph, ir::NodeId id, Context& context, const ValueRanges& ranges);

}  // namespace octavo::passes
