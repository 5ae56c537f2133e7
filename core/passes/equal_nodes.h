// Two nodes that compute the same become one, in floats as in codes.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kEqualNodes = {
    "equal-nodes", "Op(a), Op(a) -> one", Effect::kExact,
    "same op, operands, attributes and types, quantization included; not the pending Quantize of a "
    "constant, whose parameters are each reader's own until it is merged"};

// Merges all of them; the graph is in order afterwards.
Status MergeEqualNodes(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
