// SPDX-License-Identifier: Apache-2.0
// Values that get 16-bit integers where the others have 8 (--int16).  A value shares its scale with
// others (the operands and results of data movement), and they all become wide together; products
// multiply 16-bit activations by 8-bit weights.
#pragma once

#include "core/passes/quantize/quantize_plan.h"
#include "core/passes/quantize/type_groups.h"

namespace octavo::passes {

inline constexpr Rule kInt16 = {
    .id = "quantize/int16",
    .pattern = "Op(x, w) : u8",
    .replacement = "Op(x, w) : i16",
    .effect = Effect::kNewParameters,
    .condition =
        "the job itself, so no limit applies: --int16 names Op, its result or a value that "
        "shares its scale; the target has 16-bit activations and does not fix the result's "
        "type",
};

// Marks the groups of the named values; `groups` are complete.  Records each node whose results
// become wide, and warns of names that name nothing quantized.
void ChooseWideValues(const ir::Graph& graph, const QuantizePlan& plan, TypeGroups& groups,
                      Context& context);

}  // namespace octavo::passes
