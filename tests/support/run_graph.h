// SPDX-License-Identifier: Apache-2.0
// Executes a graph by definition and keeps every value by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::test {

struct KeptValue {
  ir::Type type = {};
  ir::Tensor tensor = {};
};
using ValuesByName = std::map<std::string, KeptValue>;

// Returns the computed values and the graph outputs.
Result<ValuesByName> RunGraph(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs);

}  // namespace octavo::test
