// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/recognize_op.h"

#include <algorithm>

#include "core/passes/qdq/qdq_rules.h"
#include "core/patterns/match.h"
#include "core/patterns/patterns.h"

namespace octavo::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

bool IsOnlyQuantized(const ir::Graph& graph, ValueId value) {
  const std::vector<NodeId> consumers = graph.Consumers(value);
  return !consumers.empty() && !graph.IsOutput(value) &&
         std::all_of(consumers.begin(), consumers.end(), [&](NodeId consumer) {
           return patterns::IsOwn(graph.node(consumer), "Quantize");
         });
}

bool IsDead(const ir::Graph& graph, const ir::Node& node) {
  return std::all_of(node.results.begin(), node.results.end(),
                     [&](ValueId result) { return graph.CountUses(result) == 0; });
}

// Erases those nodes that have no consumers left.
void EraseDead(ir::Graph& graph, std::vector<NodeId> nodes) {
  for (size_t left = 0; left != nodes.size();) {
    left = nodes.size();
    std::erase_if(nodes, [&](NodeId id) {
      const bool dead = IsDead(graph, graph.node(id));
      if (dead) graph.Erase(id);
      return dead;
    });
  }
}

void Recognize(ir::Graph& graph, NodeId last, const QdqOrigin& origin, Context& context) {
  if (graph.node(last).results.size() != 1) return;
  const bool written_out = origin.written_out.contains(graph.node(last).name);
  if (!written_out && !IsOnlyQuantized(graph, graph.node(last).result())) return;
  for (const patterns::Pattern& pattern : patterns::AllPatterns()) {
    std::optional<patterns::Form> match = pattern.match(graph, last);
    if (!match || !match->order.empty()) continue;
    const ValueId x = match->inputs[0];
    if (!written_out && !patterns::IsOwn(graph.Producer(x), "Dequantize")) return;
    const std::vector<NodeId> nodes = patterns::NodesOf(graph, last, x);
    const bool kept = std::ranges::any_of(nodes, [&](NodeId id) {
      return id != last && origin.kept_float.contains(graph.node(id).name);
    });
    if (kept) return;
    context.Applied(kRecognizeOp, graph.node(last).name, {graph.name(graph.node(last).result())});
    patterns::Apply(graph, last, pattern, *std::move(match));
    EraseDead(graph, nodes);
    return;
  }
}

}  // namespace

void RecognizeOps(ir::Graph& graph, const QdqOrigin& origin, Context& context) {
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.nodes()) nodes.push_back(id);
  // In reverse order: a pattern that contains another one must match first.
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!graph.node(nodes[i]).erased) Recognize(graph, nodes[i], origin, context);
  }
}

}  // namespace octavo::passes
