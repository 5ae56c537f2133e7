// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/unknown_names.h"

#include "core/base/glob.h"
#include "core/base/nearest_name.h"
#include "core/ops/op_table.h"
#include "core/passes/quantize/quantize_plan.h"

namespace octavo::passes {

bool IsKnown(const std::string& name, const ir::Graph& graph) {
  if (graph.Knows(name) || ops::FindOp(name, "") != nullptr) return true;
  for (const ir::NodeId id : graph.nodes()) {
    if (IsNamedBy({name}, graph, graph.node(id))) return true;
  }
  return false;
}

std::vector<std::string_view> KnownNames(const ir::Graph& graph) {
  std::vector<std::string_view> names;
  for (const ir::ValueId id : graph.inputs()) names.push_back(graph.name(id));
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    names.push_back(node.name);
    names.push_back(node.op->name);
    for (const std::string& origin : node.origin) names.push_back(origin);
    for (const ir::ValueId result : node.results) {
      if (result) names.push_back(graph.name(result));
    }
  }
  return names;
}

void WarnOfUnknown(const std::vector<std::string>& names, std::string_view option,
                   const ir::Graph& graph, Context& context) {
  for (const std::string& name : names) {
    if (IsKnown(name, graph)) continue;
    if (IsGlob(name)) {
      context.Warn("unknown_name", fmt::format("--{} '{}' matches no operator, node or value of "
                                               "the prepared graph",
                                               option, name));
      continue;
    }
    context.Warn("unknown_name", fmt::format("--{} '{}' names no operator, and no node or value of "
                                             "the prepared graph{}",
                                             option, name, DidYouMean(name, KnownNames(graph))));
  }
}

}  // namespace octavo::passes
