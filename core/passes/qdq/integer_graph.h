// SPDX-License-Identifier: Apache-2.0
// The last step of fold-qdq: the graph is built anew, with the ops that fold on quantized operands.
#pragma once

#include "core/passes/pass.h"
#include "core/passes/qdq/qdq_analysis.h"

namespace octavo::passes {

// The graph has new values; a name of `graph` that none of them carries becomes an alias.
Result<ir::Graph> BuildIntegerGraph(const ir::Graph& graph, const QdqOrigin& origin,
                                    Context& context);

}  // namespace octavo::passes
