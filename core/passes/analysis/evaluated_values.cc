// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/evaluated_values.h"

#include <algorithm>

namespace octavo::passes {

std::vector<bool> EvaluatedValues(const ir::Graph& graph) {
  std::vector<bool> evaluated(graph.value_bound(), false);
  const auto is_known = [&](ir::ValueId input) {
    return !input || graph.IsConstant(input) || evaluated[input.index];
  };
  const auto is_quantized = [&](ir::ValueId value) {
    return value && graph.type(value).quantized();
  };
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const ir::ValueId input : node.inputs) {
      if (input && graph.IsConstant(input)) evaluated[input.index] = is_quantized(input);
    }
    if (!std::ranges::all_of(node.inputs, is_known)) continue;
    if (!std::ranges::all_of(node.results, is_quantized)) continue;
    for (const ir::ValueId result : node.results) evaluated[result.index] = true;
  }
  return evaluated;
}

}  // namespace octavo::passes
