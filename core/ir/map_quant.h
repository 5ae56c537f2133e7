// The parameters of one result of an op that keeps its type: the axis rule of its row
// (OpDef::map_quant), asked result by result.
#pragma once

#include <optional>

#include "core/ir/graph.h"

namespace octavo::ir {

// What result `result` of the node is read as where its data input `input` is read as `from`;
// nullopt where no type says it.  Where the results lie one after the other along the axis of what
// the op's rule answers (Split), that is of all of them together, and each has its own channels.
std::optional<Quant> MapQuant(const Graph& graph, const Node& node, int input, size_t result,
                              const Quant& from);

}  // namespace octavo::ir
