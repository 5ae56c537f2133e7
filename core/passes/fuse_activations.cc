// Lets the clamp of a producer's result do the work of a Relu or Clip.
//
//   identity   Clamp(x) : t(x)                 ->  x              exact
//              where it maps every code of t to itself (proved by enumeration)
//   combined   Clamp(Op(..) : t1) : t2         ->  Op(..) : t2    fewer roundings
//              where the clamp is then an identity
#include "core/passes/clamp_codes.h"
#include "core/passes/passes.h"
#include "core/passes/type_range.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr Rule kIdentity = {"identity", "Clamp(x) : t(x) -> x", Effect::kExact,
                            "the clamp maps every code of the type to itself, by enumeration"};
constexpr Rule kCombined = {"combined", "Clamp(Op(..) : t1) : t2 -> Op(..) : t2",
                            Effect::kFewerRoundings,
                            "Op's result parameters are free; one reader; the clamp is an identity "
                            "on t2; range(t2) inside range(t1), else fewer-clamps"};
constexpr Rule kRules[] = {kIdentity, kCombined};

Status Fuse(Graph& graph, NodeId id, Context& context) {
  const Node node = graph.node(id);
  if (!node.op->clamps || node.results.size() != 1) return {};
  const ValueId x = node.inputs[0];
  const ValueId y = node.result();
  const Type in = graph.type(x);
  const Type out = graph.type(y);
  if (!in.quantized() || !out.quantized()) return {};
  if (!ClampKeepsCodes(graph, node, out)) return {};
  const bool same = in.dtype == out.dtype && in.quant == out.quant;
  const NodeId producer = graph.value(x).producer;
  const bool sole_reader = graph.CountUses(x) == 1;
  if (graph.IsOutput(y) && !(producer && sole_reader)) {
    context.Keep(node.name,
                 fmt::format("it gives output '{}' its name, and '{}' {}", graph.name(y),
                             graph.name(x), producer ? "has other readers" : "is not computed"));
    return {};
  }
  if (!same) {
    if (!producer || !sole_reader ||
        graph.node(producer).op->rescale.at_output != ir::RescaleRule::AtOutput::kAbsorbed) {
      return {};
    }
    const std::string stays = context.settings().target.WhyTypeStays(graph.node(producer).op->name);
    if (!stays.empty()) {
      context.Keep(node.name, stays);
      return {};
    }
    const Effect effect = EffectOfOmitting(out, in, context.settings().target.numerics);
    if (!context.Allows(effect)) {
      context.Keep(node.name, fmt::format("fusing it would have the effect {}", Name(effect)));
      return {};
    }
    context.Applied(kCombined, effect, node.name, {graph.name(x), graph.name(y)});
  } else {
    context.Applied(kIdentity, node.name, {graph.name(x), graph.name(y)});
  }
  if (producer) graph.AddOrigin(producer, node.origin);
  if (producer && sole_reader) {
    // The name of the clamped value stays: those are the reals that are now computed.
    graph.Absorb(x, y);
    // The producer may be a clamp itself, and now give the type that it reads.
    return Fuse(graph, producer, context);
  }
  graph.Forward(y, x);
  graph.Erase(id);
  return {};
}

Status Run(Graph& graph, Context& context) {
  for (const NodeId id : graph.nodes()) OCTAVO_CHECK(Fuse(graph, id, context));
  return {};
}

}  // namespace

const Pass kFuseActivationsPass = {
    .name = "fuse-activations",
    .promise = "no Relu or Clip stands where its producer's own clamp does the same",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
