// SPDX-License-Identifier: Apache-2.0
// The fold budget of a job (--fold-budget): the bytes by which folding may grow its constants.
#pragma once

#include <optional>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

// The bytes that folding the node adds: its results minus the constant operands without other
// consumers.  nullopt, with the reason recorded, if that is more than the job has left.
std::optional<int64_t> GrowthWithinBudget(const ir::Graph& graph, const ir::Node& node,
                                          Context& context);

// Turns the results of the node into constants, which keep their names, erases operands and results
// without consumers, and takes `growth` from the budget.
void DefineAsFolded(ir::Graph& graph, ir::NodeId id, std::vector<ir::Tensor> results,
                    int64_t growth, Context& context);

}  // namespace octavo::passes
