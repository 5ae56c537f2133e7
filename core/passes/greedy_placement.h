// Placement by single moves: a Rescale sinks where fewer elements are then converted or a neighbour
// takes it for good, and what stands beside an op that takes it is absorbed, until nothing changes.
// The yardstick of place-rescales, and its answer where no better one is found.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// The rule under which a Rescale's move down past an op is recorded.
extern const Rule kSunkRule;

// Whether a Rescale would sink, so that PlaceGreedily would change the graph at all.
bool SinksGreedily(const ir::Graph& graph, const Settings& settings);

Status PlaceGreedily(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
