// SPDX-License-Identifier: Apache-2.0
// Decomposes ops that recognition and exporters produce into ops that a target has in integers:
// gates become products and clamps, means over images become pools.
#pragma once

#include "core/passes/analysis/value_ranges.h"
#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kDecomposeSwish = {
    .id = "lower/decompose-swish",
    .pattern = "Swish{alpha}(x)",
    .replacement = "Mul(x, Sigmoid(alpha*x))",
    .effect = Effect::kRealExact,
    .condition =
        "the target lowers Swish, or has integer forms of Sigmoid and Mul but not of Swish",
};
inline constexpr Rule kDecomposeHardSigmoid = {
    .id = "lower/decompose-hard-sigmoid",
    .pattern = "HardSigmoid{alpha, beta}(x)",
    .replacement = "Clip(alpha*x + beta, 0, 1)",
    .effect = Effect::kRealExact,
    .condition =
        "the target lowers HardSigmoid, or has integer forms of Mul, Add and Clip but not of "
        "HardSigmoid",
};
inline constexpr Rule kReduceMeanToGlobalAveragePool = {
    .id = "lower/reduce-mean-to-global-average-pool",
    .pattern = "ReduceMean(x)",
    .replacement = "Reshape(GlobalAveragePool(x))",
    .effect = Effect::kRealExact,
    .condition =
        "over all axes after the second; the target lowers ReduceMean, or has an integer form of "
        "GlobalAveragePool but not of ReduceMean",
};

// Each of these applies its rule at `id` if the condition holds.
void LowerSwish(ir::Graph& graph, ir::NodeId id, Context& context, const ValueRanges& ranges);
void LowerHardSigmoid(ir::Graph& graph, ir::NodeId id, Context& context, const ValueRanges& ranges);
void LowerMean(ir::Graph& graph, ir::NodeId id, Context& context, const ValueRanges& ranges);

}  // namespace octavo::passes
