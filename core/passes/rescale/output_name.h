// SPDX-License-Identifier: Apache-2.0
// Graph outputs keep their names: if a rewrite removes the node that computes an output, the
// producer of that node's operand computes the output instead.
#pragma once

#include "core/ir/graph.h"

namespace octavo::passes {

// Whether the producer of `value` can compute a graph output instead: `value` is not an input, a
// constant, or an output itself.
bool CanBecomeOutput(const ir::Graph& graph, ir::ValueId value);

// The producer of `value` computes `output` instead, which has the same elements; the node that
// computed `output`, from `value` alone, is removed.  Other consumers of `value` read `output`,
// which gets the type of `value`; the name of `value` becomes an alias.  CanBecomeOutput must hold.
void ComputeAsOutput(ir::Graph& graph, ir::ValueId output, ir::ValueId value);

}  // namespace octavo::passes
