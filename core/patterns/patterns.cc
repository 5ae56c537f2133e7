// SPDX-License-Identifier: Apache-2.0
#include "core/patterns/patterns.h"

#include <set>

#include "core/ops/op_table.h"

namespace octavo::patterns {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

constexpr Pattern kPatterns[] = {
    {"recognize/fuse-gelu", "Gelu", &MatchGelu},
    {"recognize/fuse-gelu-tanh", "Gelu", &MatchGeluTanh},
    {"recognize/fuse-layer-norm", "LayerNormalization", &MatchLayerNorm},
    {"recognize/fuse-rms-norm", "RMSNormalization", &MatchRmsNorm},
    {"recognize/fuse-l2-norm", "LpNormalization", &MatchL2Norm},
    {"recognize/fuse-hard-swish", "HardSwish", &MatchHardSwish},
    {"recognize/fuse-swish", "Swish", &MatchSwish},
    {"recognize/fuse-hard-sigmoid", "HardSigmoid", &MatchHardSigmoid},
    {"recognize/fuse-softmax", "Softmax", &MatchSoftmax},
};

}  // namespace

std::span<const Pattern> AllPatterns() { return kPatterns; }

std::vector<NodeId> NodesOf(const Graph& graph, NodeId last, ValueId x) {
  std::vector<NodeId> nodes = {last};
  std::set<NodeId> seen = {last};
  for (size_t next = 0; next < nodes.size(); ++next) {
    for (const ValueId input : graph.node(nodes[next]).inputs) {
      if (!input || input == x) continue;
      const NodeId producer = graph.value(input).producer;
      if (producer && seen.insert(producer).second) nodes.push_back(producer);
    }
  }
  return nodes;
}

void Apply(Graph& graph, NodeId last, const Pattern& pattern, Form form) {
  std::vector<std::string> origins;
  for (const NodeId id : NodesOf(graph, last, form.inputs[0])) {
    const std::vector<std::string>& origin = graph.node(id).origin;
    origins.insert(origins.end(), origin.begin(), origin.end());
  }
  graph.AddOrigin(last, origins);
  graph.Redefine(last, ops::FindOp(pattern.op), std::move(form.inputs), std::move(form.attributes));
}

}  // namespace octavo::patterns
