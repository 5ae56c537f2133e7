// SPDX-License-Identifier: Apache-2.0
// The bias of a Gemm in the shape that integer ops take: one value per output channel.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kPlainBias = {
    .id = "canonicalize/plain-bias",
    .pattern = "Gemm(a, w, b)",
    .replacement = "Gemm(a, w, b') : b' has one element per column",
    .effect = Effect::kExact,
    .condition = "b is a float constant of one element, or one row with more than one axis",
};

// Applies the rule at `id` where it holds.
void PlainBias(ir::Graph& graph, ir::NodeId id, Context& context);

}  // namespace octavo::passes
