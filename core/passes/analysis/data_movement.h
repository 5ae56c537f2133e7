// SPDX-License-Identifier: Apache-2.0
// How data movement maps a type: the axis rule of the op's own row.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

std::vector<size_t> DataInputs(const ir::Node& node);

// A same-scale op that only moves stored elements: Rescales sink and hoist past it.
bool MovesAll(const ir::Graph& graph, const ir::Node& node);
// The same with one data operand, the first, and one result.
bool Moves(const ir::Graph& graph, const ir::Node& node);

// The parameters of a result if the first operand has `from`; nullopt where no type can express
// them.
std::optional<ir::Quant> QuantAfter(const ir::Graph& graph, const ir::Node& move,
                                    const ir::Quant& from, size_t result = 0);

// The parameters that the operand of a move must have for the result to have `to`.
std::optional<ir::Quant> QuantBefore(const ir::Graph& graph, const ir::Node& move,
                                     const ir::Quant& to);

}  // namespace octavo::passes
