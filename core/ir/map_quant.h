// SPDX-License-Identifier: Apache-2.0
// The quantization parameters of one result of a same-scale op: the axis rule of its row
// (OpDef::map_quant), for each result.
#pragma once

#include <optional>

#include "core/ir/graph.h"

namespace octavo::ir {

// The quantization of result `result` where data input `input` has `from`; nullopt where no type
// expresses it.  Where the op's rule maps to all results together, one after the other along the
// axis (Split), each result gets its own channels of it.
std::optional<Quant> MapQuant(const Graph& graph, const Node& node, int input, size_t result,
                              const Quant& from);

}  // namespace octavo::ir
