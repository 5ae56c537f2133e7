#include "core/passes/lower_swish.h"

#include <algorithm>

#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

bool Wants(const target::Target& target) {
  const auto floats = [&](std::string_view op) {
    return !target.WhyFloat(op, ir::QuantRule::Kind::kFree).empty();
  };
  if (target.Keeps("Swish")) return false;
  return target.Lowers("Swish") || (floats("Swish") && !floats("Sigmoid") && !floats("Mul"));
}

// A node before `position` whose result is `name` and like x.
ValueId Insert(Graph& graph, NodeId position, std::string_view name, std::string_view op,
               std::vector<ValueId> inputs) {
  const ir::Type& x = graph.type(graph.node(position).input(0));
  const ir::Type type{x.dtype, x.shape, {}, {}};
  const std::vector<std::string> origin = graph.node(position).origin;
  const NodeId id = graph.InsertBefore(position, {.op = Op(op),
                                                  .inputs = std::move(inputs),
                                                  .results = {{graph.UniqueName(name), type}},
                                                  .origin = origin});
  return graph.node(id).result();
}

}  // namespace

void LowerSwish(Graph& graph, NodeId id, Context& context, const ValueRanges& ranges) {
  if (!Is(graph.node(id), "Swish") || !Wants(context.settings().target) ||
      !context.Allows(kSwishIsProduct.effect)) {
    return;
  }
  const std::string name = graph.name(graph.node(id).result());
  const ValueId x = graph.node(id).input(0);
  const float alpha = graph.node(id).attributes.Float("alpha", 1);
  context.Applied(kSwishIsProduct, graph.node(id).name, {name});
  ValueId scaled = x;
  if (alpha != 1) {
    const ValueId factor = AddConstant(graph, name + ".alpha", ir::Tensor::Scalar(alpha));
    scaled = Insert(graph, id, name + ".scaled", "Mul", {x, factor});
    if (const auto range = KnownRange(graph, context, ranges, x)) {
      const float a = alpha * range->min, b = alpha * range->max;
      DeriveRange(context, graph.name(scaled), ir::Range{std::min(a, b), std::max(a, b)});
    }
  }
  const ValueId gate = Insert(graph, id, name + ".sigmoid", "Sigmoid", {scaled});
  Recompute(graph, id, "Mul", {x, gate}, {});
}

}  // namespace octavo::passes
