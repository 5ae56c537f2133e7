// SPDX-License-Identifier: Apache-2.0
// Names in options that the graph does not have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/passes/pass.h"

namespace octavo::passes {

// Inputs, nodes, original nodes, results and operators of the graph: what a name may mean.
std::vector<std::string_view> KnownNames(const ir::Graph& graph);

// Whether the name or pattern matches an operator, or a node or value of the graph.
bool IsKnown(const std::string& name, const ir::Graph& graph);

// Warns of each name or pattern of `option` that matches no operator, and no node or value of the
// graph: a misspelt name would otherwise go unnoticed, because the job succeeds without it.
void WarnOfUnknown(const std::vector<std::string>& names, std::string_view option,
                   const ir::Graph& graph, Context& context);

}  // namespace octavo::passes
