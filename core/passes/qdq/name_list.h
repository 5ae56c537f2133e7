// SPDX-License-Identifier: Apache-2.0
// Lists of names in a graph's metadata (core/ir/qdq_notes.h).
#pragma once

#include <set>
#include <string>

#include "core/base/status.h"
#include "core/ir/graph.h"

namespace octavo::passes {

// Empty if the metadata has no entry `key`; kInvalidArgument if the entry is not a list of names.
Result<std::set<std::string>> NamesIn(const ir::Graph& graph, const std::string& key);

// The same, and removes the entry.
Result<std::set<std::string>> TakeNames(ir::Graph& graph, const std::string& key);

}  // namespace octavo::passes
