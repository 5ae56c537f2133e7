// SPDX-License-Identifier: Apache-2.0
// Greedy placement by single moves: a Rescale sinks where fewer elements are then converted or a
// consumer can fold it, and Rescales are folded into their neighbours, up to a fixpoint.  The
// baseline of place-rescales, and its result if that finds no better one.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kSink = {
    .id = "place-rescales/sink",
    .pattern = "Move(Rescale(x), ..)",
    .replacement = "Rescale(Move(x, ..))",
    .effect = Effect::kExact,
    .condition = "the Rescales of all operands are equal; the placement converts fewer elements",
};

// Whether a Rescale would sink, so that PlaceGreedily would change the graph at all.
bool SinksGreedily(const ir::Graph& graph, const Settings& settings);

Status PlaceGreedily(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
