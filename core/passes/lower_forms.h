// Ops that models do not need but recognition and exporters like, in those that a target has in
// integers: gates as products and clamps, means of images as pools.
#pragma once

#include "core/passes/pass.h"
#include "core/passes/value_ranges.h"

namespace octavo::passes {

inline constexpr Rule kSwishIsProduct = {
    "swish", "Swish{alpha}(x) -> Mul(x, Sigmoid(alpha*x))", Effect::kRealExact,
    "the target lowers Swish, or computes Sigmoid and Mul in integers but not Swish"};
inline constexpr Rule kHardSigmoidIsClip = {
    "hard-sigmoid", "HardSigmoid{alpha, beta}(x) -> Clip(alpha*x + beta, 0, 1)", Effect::kRealExact,
    "the target lowers HardSigmoid, or computes Mul, Add and Clip in integers but not HardSigmoid"};
inline constexpr Rule kMeanIsPool = {
    "mean-pool", "ReduceMean(x) -> GlobalAveragePool(x), reshaped", Effect::kRealExact,
    "over all axes behind the second; the target lowers ReduceMean, or computes GlobalAveragePool "
    "in integers but not ReduceMean"};

// Each applies its law to `id` where it holds.
void LowerSwish(ir::Graph& graph, ir::NodeId id, Context& context, const ValueRanges& ranges);
void LowerHardSigmoid(ir::Graph& graph, ir::NodeId id, Context& context, const ValueRanges& ranges);
void LowerMean(ir::Graph& graph, ir::NodeId id, Context& context, const ValueRanges& ranges);

}  // namespace octavo::passes
