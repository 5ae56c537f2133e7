// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/name_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace octavo::passes {

Result<std::set<std::string>> NamesIn(const ir::Graph& graph, const std::string& key) {
  std::set<std::string> names;
  const auto entry = graph.metadata.find(key);
  if (entry == graph.metadata.end()) return names;
  const auto list = nlohmann::json::parse(entry->second, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array() ||
      !std::ranges::all_of(list, [](const auto& name) { return name.is_string(); })) {
    return Fail(Code::kInvalidArgument, "metadata '{}' is not a list of names", key).Field(key);
  }
  for (const auto& name : list) names.insert(name.template get<std::string>());
  return names;
}

Result<std::set<std::string>> TakeNames(ir::Graph& graph, const std::string& key) {
  Result<std::set<std::string>> names = NamesIn(graph, key);
  graph.metadata.erase(key);
  return names;
}

}  // namespace octavo::passes
