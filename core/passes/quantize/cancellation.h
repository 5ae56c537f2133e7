// SPDX-License-Identifier: Apache-2.0
// Sums whose operands cancel (the variance as E[x^2] - E[x]^2) have few significant bits when
// quantized.  They stay float, together with the small values that they are computed from and that
// are computed from them.
#pragma once

#include "core/passes/analysis/value_ranges.h"
#include "core/passes/quantize/quantize_plan.h"

namespace octavo::passes {

// Removes such nodes from the plan and records the reason.
void KeepCancellations(const ir::Graph& graph, Context& context, const ValueRanges& ranges,
                       QuantizePlan& plan);

}  // namespace octavo::passes
