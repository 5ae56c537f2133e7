// What a type becomes through an op that moves codes: the axis rule, asked of the op's own row.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

std::vector<size_t> DataInputs(const ir::Node& node);

// An op that hands stored codes on unchanged, all data operands and results being of one type.
bool MovesAll(const ir::Graph& graph, const ir::Node& node);
// The same of one data operand, the first, and one result.
bool Moves(const ir::Graph& graph, const ir::Node& node);

// What codes of the first operand read as `from` are read as after the move, in one of its results;
// nullopt where no type says it.
std::optional<ir::Quant> QuantAfter(const ir::Graph& graph, const ir::Node& move,
                                    const ir::Quant& from, size_t result = 0);

// What codes must be read as before a move of one operand to be read as `to` after it.
std::optional<ir::Quant> QuantBefore(const ir::Graph& graph, const ir::Node& move,
                                     const ir::Quant& to);

}  // namespace octavo::passes
