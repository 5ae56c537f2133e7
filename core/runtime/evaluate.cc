// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/evaluate.h"

#include "core/runtime/plan/fold_constants.h"

namespace octavo::runtime {

Result<std::vector<ir::Tensor>> Evaluate(const ir::Graph& graph, const ir::Node& node,
                                         const numerics::Mode& numerics, ThreadPool& pool) {
  FixedValues constants;
  for (const ir::ValueId id : node.inputs) {
    if (id) constants.emplace(id, graph.value(id).constant->tensor);
  }
  OCTAVO_CHECK(EvaluateNode(
      {.graph = graph, .node = node, .fixed = constants, .numerics = &numerics}, pool, constants));
  std::vector<ir::Tensor> results;
  for (const ir::ValueId id : node.results) results.push_back(std::move(constants.at(id)));
  return results;
}

}  // namespace octavo::runtime
