// SPDX-License-Identifier: Apache-2.0
// Applies absorb_rules.h: folds Rescales into their producers and consumers.  absorb-rescales does
// this on the given graph, place-rescales after each move.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// Applies kAbsorbRules until no rule matches, and records the reason for each Rescale that stays.
// Returns the number of applications.
int64_t AbsorbRescales(ir::Graph& graph, Context& context);

bool IsRescale(const ir::Node& node);

}  // namespace octavo::passes
