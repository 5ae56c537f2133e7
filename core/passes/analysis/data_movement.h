// SPDX-License-Identifier: Apache-2.0
// How data movement maps types, by the axis rule in the op's row.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

std::vector<size_t> DataInputs(const ir::Node& node);

// Whether the node is a same-scale op that only moves stored elements: Rescales can sink and hoist
// past it.
bool MovesAll(const ir::Graph& graph, const ir::Node& node);
// The same, and the first operand is the only data operand, and there is one result.
bool Moves(const ir::Graph& graph, const ir::Node& node);

// The parameters of a result if the first operand has `from`; nullopt if no type can express them.
std::optional<ir::Quant> QuantAfter(const ir::Graph& graph, const ir::Node& move,
                                    const ir::Quant& from, size_t result = 0);

// The operand's parameters for which the result has `to`; nullopt if there are none.
std::optional<ir::Quant> QuantBefore(const ir::Graph& graph, const ir::Node& move,
                                     const ir::Quant& to);

}  // namespace octavo::passes
