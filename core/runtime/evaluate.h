// SPDX-License-Identifier: Apache-2.0
// Computes one node of constant operands at compile time.
#pragma once

#include <vector>

#include "core/ir/graph.h"
#include "core/numerics/mode.h"

namespace octavo::runtime {

// The results as stored: the bits that every plan for this numerics mode computes for the node.
// All operands must be constants of the graph.  kUnimplemented if the mode does not define the
// node.
Result<std::vector<ir::Tensor>> Evaluate(const ir::Graph& graph, const ir::Node& node,
                                         const numerics::Mode& numerics, ThreadPool& pool);

}  // namespace octavo::runtime
