// Sums whose operands cancel (the variance as E[x^2] - E[x]^2) would keep hardly a bit in
// integers: they stay in float, with the small values that lead to them and follow from them.
#pragma once

#include "core/passes/quantize_plan.h"
#include "core/passes/value_ranges.h"

namespace octavo::passes {

// Takes such nodes out of the plan, with the reason.
void KeepCancellations(const ir::Graph& graph, Context& context, const ValueRanges& ranges,
                       QuantizePlan& plan);

}  // namespace octavo::passes
