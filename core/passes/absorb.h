// The laws that remove a Rescale by merging it into a neighbour.  Shared by absorb-rescales, which
// applies them as they stand, and place-rescales, which applies them after each move.
#pragma once

#include <span>

#include "core/passes/pass.h"

namespace octavo::passes {

std::span<const Rule> AbsorbRules();

// Applies the laws until none applies.  Returns how many applications there were.  Rescales that
// stay are noted with the reason.
int64_t AbsorbRescales(ir::Graph& graph, Context& context);

bool IsRescale(const ir::Node& node);

}  // namespace octavo::passes
