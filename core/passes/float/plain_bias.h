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

inline constexpr Rule kSplitBias = {
    .id = "canonicalize/split-bias",
    .pattern = "Gemm(a, w, b)",
    .replacement = "Add(Gemm(a, w), b)",
    .effect = Effect::kExact,
    .condition = "b is a float constant that differs by row; beta is 1",
};

// Each applies its rule at `id` where it holds.
void SplitBias(ir::Graph& graph, ir::NodeId id, Context& context);
void PlainBias(ir::Graph& graph, ir::NodeId id, Context& context);

}  // namespace octavo::passes
