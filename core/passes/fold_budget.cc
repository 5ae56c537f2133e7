// SPDX-License-Identifier: Apache-2.0
#include "core/passes/fold_budget.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

int64_t GrowthOf(const Graph& graph, const Node& node) {
  int64_t growth = 0;
  for (const ValueId result : node.results) growth += graph.type(result).bytes();
  for (const ValueId input : node.inputs) {
    if (input && graph.IsConstant(input) && graph.CountUses(input) == 1) {
      growth -= graph.type(input).bytes();
    }
  }
  return std::max<int64_t>(growth, 0);
}

}  // namespace

std::optional<int64_t> GrowthWithinBudget(const Graph& graph, const Node& node, Context& context) {
  const int64_t growth = GrowthOf(graph, node);
  const int64_t budget = context.settings().options.fold_budget;
  const int64_t folded = context.findings().folded_bytes;
  if (growth > budget - folded) {
    context.Keep(node.name, fmt::format("folding it would add {} bytes of constants, and {} of the "
                                        "{} bytes of the fold budget are used",
                                        growth, folded, budget));
    return std::nullopt;
  }
  return growth;
}

void DefineAsFolded(Graph& graph, ir::NodeId id, std::vector<ir::Tensor> results, int64_t growth,
                    Context& context) {
  context.findings().folded_bytes += growth;
  std::vector<ValueId> values = graph.node(id).inputs;
  const std::vector<ValueId>& defined = graph.node(id).results;
  values.insert(values.end(), defined.begin(), defined.end());
  std::vector<ir::PayloadPtr> payloads;
  for (ir::Tensor& result : results) payloads.push_back(ir::MakePayload(std::move(result)));
  graph.DefineAsConstants(id, payloads);
  for (const ValueId value : values) {
    if (value && !graph.value(value).erased && graph.IsConstant(value) &&
        graph.CountUses(value) == 0) {
      graph.EraseConstant(value);
    }
  }
}

}  // namespace octavo::passes
