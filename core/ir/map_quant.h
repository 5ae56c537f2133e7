// SPDX-License-Identifier: Apache-2.0
// The quantization parameters of one result of a same-scale op: the op's axis rule
// (OpDef::map_quant), applied to each result.
#pragma once

#include <optional>

#include "core/ir/graph.h"

namespace octavo::ir {

// The quantization of result `result` if data input `input` has `from`; nullopt if no type can
// express it, as for blocks; the form is canonical.  The rule may describe all results at once,
// concatenated along the axis (Split); each result then gets the part for its own channels.
std::optional<Quant> MapQuant(const Graph& graph, const Node& node, int input, size_t result,
                              const Quant& from);

}  // namespace octavo::ir
