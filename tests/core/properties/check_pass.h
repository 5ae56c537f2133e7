// SPDX-License-Identifier: Apache-2.0
// What must hold of every pass on every graph.
#pragma once

#include "core/ir/graph.h"
#include "core/passes/pass.h"

namespace octavo::test {

// Runs the pass on `graph`.  An error says what does not hold:
//   the graph verifies afterwards; every name of before is still known; interfaces keep their
//   names; a change stands in the ledger; a second run changes nothing; what `seed` draws as
//   inputs gives the results that the applications' effects allow, and no values past zero
//   where a Relu or a type kept them out
Status CheckPass(const passes::Pass& pass, const passes::Settings& settings, uint64_t seed,
                 ir::Graph& graph);

// The smallest part of `graph` found for which `holds` still fails; values that are cut off
// become inputs.
using Property = std::function<Status(const ir::Graph&)>;
ir::Graph Minimize(const ir::Graph& graph, const Property& holds);

}  // namespace octavo::test
