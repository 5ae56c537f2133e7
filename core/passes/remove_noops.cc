// Takes away what the laws before it have left without a purpose.
//
//   noop       Op(x) : t(x)          ->  x       exact    Op leaves every element as it is
//   same-type  Rescale(x) : t(x)     ->  x       exact
//   equal-nodes  Op(a), Op(a)      ->  one     exact
//   dead       Op(..) that nobody reads  ->      exact
#include "core/passes/equal_nodes.h"
#include "core/passes/noop.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kNoop = {"noop", "Op(x) : t(x) -> x", Effect::kExact,
                        "Op leaves every element as it is; types equal, quantization included"};
constexpr Rule kSameType = {"same-type", "Rescale(x) : t(x) -> x", Effect::kExact,
                            "the same parameters"};
constexpr Rule kDead = {"dead", "Op(..) -> nothing", Effect::kExact, "nobody reads its results"};
constexpr Rule kRules[] = {kNoop, kSameType, kEqualNodes, kDead};

bool IsSameTypeRescale(const Graph& graph, const Node& node) {
  if (node.op->domain != "octavo" || node.op->name != "Rescale") return false;
  const ir::Type& from = graph.type(node.input(0));
  const ir::Type& to = graph.type(node.result());
  return from.dtype == to.dtype && from.quant == to.quant;
}

bool Remove(Graph& graph, NodeId id, Context& context, bool& resort) {
  const Node& node = graph.node(id);
  const bool same_type = IsSameTypeRescale(graph, node);
  const ValueId same =
      same_type ? node.input(0) : SameAs(graph, node, context.settings().target.numerics);
  const Effect effect = EffectOfNoop(graph, node);
  if (!same || !context.Allows(effect)) return false;
  const std::string name = node.name;
  std::vector<std::string> values = {graph.name(node.result()), graph.name(same)};
  if (!Replace(graph, node.result(), same, resort)) {
    context.Keep(name, "it gives an output of the graph its name");
    return false;
  }
  context.Applied(same_type ? kSameType : kNoop, effect, name, std::move(values));
  return true;
}

Status Run(Graph& graph, Context& context) {
  bool resort = false;
  for (const NodeId id : graph.nodes()) Remove(graph, id, context, resort);
  if (resort) OCTAVO_CHECK(graph.Sort());
  OCTAVO_CHECK(MergeEqualNodes(graph, context));
  std::vector<bool> read(graph.value_bound(), false);
  std::vector<NodeId> order;
  for (const NodeId id : graph.nodes()) order.push_back(id);
  for (size_t i = order.size(); i-- > 0;) {
    const Node& node = graph.node(order[i]);
    bool alive = false;
    for (const ValueId result : node.results) {
      alive |= graph.IsOutput(result) || read[result.index];
    }
    if (!alive) context.Applied(kDead, node.name);
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
    .promise = "no node hands its operand on unchanged, and every result is read",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
