// SPDX-License-Identifier: Apache-2.0
// Removes nodes that earlier rules have made redundant.
#include "core/passes/analysis/identity.h"
#include "core/passes/common_subexpressions.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kRemoveIdentity = {
    .id = "remove-noops/remove-identity",
    .pattern = "Op(x) : t(x)",
    .replacement = "x",
    .effect = Effect::kExact,
    .condition =
        "Op returns every element of x unchanged, and the types are equal, quantization included; "
        "real-exact for an AveragePool of floats, which turns -0 into 0",
};
constexpr Rule kRemoveIdentityRescale = {
    .id = "remove-noops/remove-identity-rescale",
    .pattern = "Rescale(x) : t(x)",
    .replacement = "x",
    .effect = Effect::kExact,
    .condition = "same quantization parameters",
};
constexpr Rule kDce = {
    .id = "remove-noops/dce",
    .pattern = "Op(..)",
    .replacement = "nothing",
    .effect = Effect::kExact,
    .condition = "no result has a consumer",
};
constexpr Rule kCse = CseRule("remove-noops/cse");
constexpr Rule kRules[] = {kRemoveIdentity, kRemoveIdentityRescale, kCse, kDce};

bool IsSameTypeRescale(const Graph& graph, const Node& node) {
  if (node.op->domain != "octavo" || node.op->name != "Rescale") return false;
  return graph.type(node.input(0)).SameQuantization(graph.type(node.result()));
}

bool Remove(Graph& graph, NodeId id, Context& context, bool& resort) {
  const Node& node = graph.node(id);
  const bool same_type = IsSameTypeRescale(graph, node);
  const ValueId same =
      same_type ? node.input(0) : IdentityOperand(graph, node, *context.settings().target.numerics);
  const Effect effect = EffectOfIdentity(graph, node);
  if (!same || !context.Allows(effect)) return false;
  const std::string name = node.name;
  std::vector<std::string> values = {graph.name(node.result()), graph.name(same)};
  if (!Replace(graph, node.result(), same, resort)) {
    context.Keep(name, "its result is a graph output, and its operand cannot take over the name");
    return false;
  }
  context.Applied(same_type ? kRemoveIdentityRescale : kRemoveIdentity, effect, name,
                  std::move(values));
  return true;
}

Status Run(Graph& graph, Context& context) {
  bool resort = false;
  for (const NodeId id : graph.nodes()) Remove(graph, id, context, resort);
  if (resort) OCTAVO_CHECK(graph.Sort());
  OCTAVO_CHECK(EliminateCommonSubexpressions(graph, context, kCse));
  std::vector<bool> read(graph.value_bound(), false);
  std::vector<NodeId> order;
  for (const NodeId id : graph.nodes()) order.push_back(id);
  for (size_t i = order.size(); i-- > 0;) {
    const Node& node = graph.node(order[i]);
    bool alive = false;
    for (const ValueId result : node.results) {
      alive |= graph.IsOutput(result) || read[result.index];
    }
    if (!alive) context.Applied(kDce, node.name);
    for (const ValueId input : node.inputs) {
      if (alive && input) read[input.index] = true;
    }
  }
  graph.EraseDead();
  return {};
}

}  // namespace

const Pass kRemoveNoopsPass = {
    .name = "remove-noops",
    .phase = Phase::kOptimize,
    .postcondition = "no node is an identity, and every result has a consumer",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
