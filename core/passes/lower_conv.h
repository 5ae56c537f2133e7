// A pointwise Conv as a product of matrices, for targets that run only the latter.
#pragma once

#include "core/passes/pass.h"
#include "core/passes/value_ranges.h"

namespace octavo::passes {

inline constexpr Rule kConvIsGemm = {
    "conv", "Conv{1x1}(x, w, b) -> Reshape(Gemm(Reshape(x), w, b))", Effect::kRealExact,
    "the target lowers Conv; two spatial axes, strides of 1, no padding, one group, constant "
    "weights"};

// Applies it to `id` where it holds.  The weights become a matrix with a row for each channel at
// once, so that they are quantized row by row.
void LowerConv(ir::Graph& graph, ir::NodeId id, Context& context, const ValueRanges& ranges);

}  // namespace octavo::passes
