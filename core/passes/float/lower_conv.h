// SPDX-License-Identifier: Apache-2.0
// Lowers a pointwise Conv to a matrix product, for targets without Conv.
#pragma once

#include "core/passes/analysis/value_ranges.h"
#include "core/passes/pass.h"
#include "core/passes/quantize/float_choice.h"

namespace octavo::passes {

inline constexpr Rule kConvToGemm = {
    .id = "lower/conv-to-gemm",
    .pattern = "Conv{1x1}(x, w, b)",
    .replacement = "Reshape(Gemm(Reshape(x), w, b))",
    .effect = Effect::kRealExact,
    .condition =
        "the target lowers Conv; two spatial axes, strides of 1, no padding, one group, constant "
        "weights",
};

// Applies the rule to `id` if its condition holds.  Turns the weights immediately into a matrix
// with one row per channel, so that they are quantized per row.
void LowerConv(ir::Graph& graph, ir::NodeId id, const FloatChoice& choice, Context& context,
               const ValueRanges& ranges);

}  // namespace octavo::passes
