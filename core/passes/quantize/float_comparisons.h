// SPDX-License-Identifier: Apache-2.0
// What an op compares is not rounded to 8 bits.  Equal, Greater, ArgMax, TopK, NonZero.. decide by
// the order of elements (OpDef::depends_on_order), and rounding makes elements equal that are not:
// Equal(x, MaxPool(x)) then finds plateaus instead of peaks.
//
// The operands stay float back to the last product, through every op with one computed operand and
// no weights (Sigmoid, Resize, a factor) and through data movement.  The product dequantizes its
// sums, as for a graph output (float_outputs.h); where an integer op reads its result as well, and
// for any other op with several computed operands, the op computes in float on dequantized
// operands.
#pragma once

#include "core/passes/analysis/value_ranges.h"
#include "core/passes/quantize/quantize_plan.h"

namespace octavo::passes {

inline constexpr Rule kFloatComparison = {
    .id = "quantize/float-comparison",
    .pattern = "Compare(f(Op(x, w) : t))",
    .replacement = "Compare(f(Op(x, w) : f32))",
    .effect = Effect::kFewerRoundings,
    .condition =
        "Compare depends on the order of its operands' elements (the places of a MaxPool do not "
        "count); f is any number of ops with one computed operand and no weights, or data "
        "movement; the target has float ops. f becomes float ops, and so does Op where it is no "
        "product or an integer op reads its result",
};

// Makes the nodes float that the rule applies to, and records each comparison.
// A value without a range keeps its op, and what precedes, as planned.
void KeepComparisonsExact(const ir::Graph& graph, Context& context, const ValueRanges& ranges,
                          QuantizePlan& plan);

}  // namespace octavo::passes
