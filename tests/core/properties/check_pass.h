// SPDX-License-Identifier: Apache-2.0
// Properties that every pass must have on every graph.
#pragma once

#include "core/ir/graph.h"
#include "core/passes/pass.h"

namespace octavo::test {

// Runs the pass on `graph` and returns an error for the first violated property:
//   the graph verifies afterwards; every previous name is still known; interfaces keep their names;
//   the ledger records each change; a second run changes nothing; inputs drawn from `seed` give
//   results within the applications' effects, and no values past zero where a Relu or a type
//   excluded them
Status CheckPass(const passes::Pass& pass, const passes::Settings& settings, uint64_t seed,
                 ir::Graph& graph);

// The smallest part of `graph` found for which `holds` still fails.  Values computed by removed
// nodes become inputs.
using Property = std::function<Status(const ir::Graph&)>;
ir::Graph Minimize(const ir::Graph& graph, const Property& holds);

}  // namespace octavo::test
