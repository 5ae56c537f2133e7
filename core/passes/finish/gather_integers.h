// SPDX-License-Identifier: Apache-2.0
// Gathers the integers of a table whose rows have their own scales, instead of its real values.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kGatherIntegers = {
    .id = "merge-constants/gather-integers",
    .pattern = "Gather(Dequantize(c), i)",
    .replacement = "Cast(Gather(integers of c, i)) * Gather(scales of c, i)",
    .effect = Effect::kExact,
    .condition =
        "c is a constant of 8 or 16 bits with parameters along the gathered axis; all consumers of "
        "the Dequantize are such Gathers; zero points other than 0 are gathered and subtracted",
};

// Applies the rule to every Gather of the result of the Dequantize `id`.
void GatherIntegers(ir::Graph& graph, ir::NodeId id, Context& context);

}  // namespace octavo::passes
