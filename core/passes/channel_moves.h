// Moves a Rescale to or from a type per channel through an op that moves codes, one op at a time:
// the axis is tracked by the op's own rule (core/ops/axis_rule.h).  The joint placement of
// place-rescales leaves such Rescales alone, since a label there is one pair of parameters.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

extern const Rule kChannelSunk;
extern const Rule kChannelRaised;

// Moves them where fewer elements are converted, or on to what takes them, and lets that take them.
Status MoveChannelRescales(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
