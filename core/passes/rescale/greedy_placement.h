// SPDX-License-Identifier: Apache-2.0
// Greedy placement by single moves: a Rescale sinks if fewer elements are then converted or a
// consumer can fold it, and Rescales are folded into their neighbours, until no move applies.  This
// is the baseline of place-rescales, and its result if place-rescales finds no better one.
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

// Whether any Rescale would sink, that is, whether PlaceGreedily would change the graph.
bool SinksGreedily(const ir::Graph& graph, const Settings& settings);

Status PlaceGreedily(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
