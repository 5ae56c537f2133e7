// SPDX-License-Identifier: Apache-2.0
// The last step of fold-qdq: builds a new graph in which the ops that fold have quantized operands.
#pragma once

#include "core/passes/pass.h"
#include "core/passes/qdq/qdq_analysis.h"

namespace octavo::passes {

// All values of the returned graph are new; names of `graph` that no new value has become aliases,
// except y.float, which an export of Octavo gives to the float result of the op that computes y.
Result<ir::Graph> BuildIntegerGraph(const ir::Graph& graph, const QdqOrigin& origin,
                                    Context& context);

}  // namespace octavo::passes
