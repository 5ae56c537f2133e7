// SPDX-License-Identifier: Apache-2.0
// Rounds one weight in blocks (core/passes/quantize/block_weights.h) of the pass round-weights,
// which one or more layers that compute in float share.
#pragma once

#include "core/passes/finish/weight_rounder.h"

namespace octavo::passes {

inline constexpr Rule kErrorFeedback = {
    .id = "round-weights/error-feedback",
    .pattern = "Op(x, Dequantize(Quantize(w)))",
    .replacement = "Op(x, Dequantize(w'))",
    .effect = Effect::kNewParameters,
    .condition =
        "the job itself, so no limit applies: --rounding is descent, w is quantized in blocks, the "
        "layer's moments are known and positive definite, and w' gives results closer to the float "
        "ones",
};

// The value that is dequantized in blocks of 4 bits to `real`, as a pending Quantize; else invalid.
ir::ValueId PendingBlocks(const ir::Graph& graph, ir::ValueId real);

// Applies the rule to the weight by the moments of all its layers together, which have the same
// columns.  Returns false, and changes nothing, if the moments are not positive definite.
Result<bool> RoundBlocks(ir::Graph& graph, Context& context, const SharedWeight& weight,
                         const profile::LayerMoments& moments);

}  // namespace octavo::passes
