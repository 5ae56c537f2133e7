// SPDX-License-Identifier: Apache-2.0
// Applies absorb_rules.h: folds Rescales into their producers and consumers.  absorb-rescales does
// so to the graph that it is given, place-rescales after each move.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// Applies kAbsorbRules up to a fixpoint and records for each Rescale that stays the reason.
// Returns the number of applications.
int64_t AbsorbRescales(ir::Graph& graph, Context& context);

bool IsRescale(const ir::Node& node);

}  // namespace octavo::passes
