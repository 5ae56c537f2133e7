// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph an export in QDQ form has to list, so that they stay float when the model
// is read again (ir::kKeptFloatKey).
#pragma once

#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

// Names of the float nodes on dequantized values that fold-qdq could make integer ops, in graph
// order.  Empty for a graph before its last pass, whose nodes may still become integer ops.
std::vector<std::string> KeptFloat(const ir::Graph& graph);

}  // namespace octavo::passes
