// SPDX-License-Identifier: Apache-2.0
#include "core/patterns/patterns.h"

#include <fmt/format.h>

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
    {"recognize/fuse-two-moment-norm", "LayerNormalization", &MatchTwoMomentNorm},
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
  const ir::OpDef* op = ops::FindOp(pattern.op);
  if (form.order.empty()) {
    graph.Redefine(last, op, std::move(form.inputs), std::move(form.attributes));
    return;
  }
  const std::string name = graph.name(graph.node(last).result());
  const ValueId x = form.inputs[0];
  const ir::Type& given = graph.type(x);
  ir::Type type{given.dtype, {}, {}, {}};
  std::vector<int64_t> back(form.order.size());
  for (size_t i = 0; i < form.order.size(); ++i) {
    type.shape.push_back(given.shape[static_cast<size_t>(form.order[i])]);
    back[static_cast<size_t>(form.order[i])] = static_cast<int64_t>(i);
  }
  const auto insert = [&](std::string_view suffix, const ir::OpDef* inserted,
                          std::vector<ValueId> inputs, ir::AttrMap attributes) {
    const NodeId id = graph.InsertBefore(
        last, {.op = inserted,
               .inputs = std::move(inputs),
               .attributes = std::move(attributes),
               .results = {{graph.UniqueName(fmt::format("{}.{}", name, suffix)), type}},
               .origin = origins});
    return graph.node(id).result();
  };
  const ir::OpDef* transpose = ops::FindOp("Transpose");
  form.inputs[0] = insert("ordered", transpose, {x}, {{"perm", form.order}});
  const ValueId computed =
      insert("computed", op, std::move(form.inputs), std::move(form.attributes));
  graph.Redefine(last, transpose, {computed}, {{"perm", back}});
}

}  // namespace octavo::patterns
