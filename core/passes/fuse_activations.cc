// Lets the clamp of a producer's result do the work of a Relu or Clip.
//
//   identity   Clamp(x) : t(x)                 ->  x              exact
//              where it maps every code of t to itself (proved by enumeration)
//   clipped-by-type  Quantize(Clamp(x)) : t    ->  Quantize(x) : t   exact
//              where its bounds are rounded to the ends of t
//   combined   Clamp(Op(..) : t1) : t2         ->  Op(..) : t2    fewer roundings
//              where the clamp is then an identity
#include "core/ops/mode_quantize.h"
#include "core/ops/quantize_math.h"
#include "core/passes/clamp_codes.h"
#include "core/passes/passes.h"
#include "core/passes/relu_in_type.h"
#include "core/passes/rewrite.h"
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
constexpr Rule kClippedByType = {"clipped-by-type", "Quantize(Clamp(x)) : t -> Quantize(x) : t",
                                 Effect::kExact,
                                 "Q(lo) = qmin and Q(hi) = qmax in every channel (beside the mode "
                                 "onnx: the bounds are past the reals of these codes); nobody else "
                                 "reads the clamp"};
constexpr Rule kCombined = {"combined", "Clamp(Op(..) : t1) : t2 -> Op(..) : t2",
                            Effect::kFewerRoundings,
                            "Op's result parameters are free; one reader; the clamp is an identity "
                            "on t2; t1 ends at zero only where t2 or Op does; "
                            "range(t2) inside range(t1), else fewer-clamps"};
constexpr Rule kRules[] = {kIdentity, kClippedByType, kCombined};

Status Fuse(Graph& graph, NodeId id, Context& context) {
  const Node node = graph.node(id);
  if (!node.op->clamps || node.results.size() != 1) return {};
  const ValueId x = node.inputs[0];
  const ValueId y = node.result();
  const Type in = graph.type(x);
  const Type out = graph.type(y);
  if (!in.quantized() || !out.quantized()) return {};
  if (!ClampKeepsCodes(graph, node, out, context.settings().target.numerics)) return {};
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
    const target::Target& target = context.settings().target;
    if (std::string why = WhyReluStays(graph, target, x, in, out); !why.empty()) {
      context.Keep(node.name, std::move(why));
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

// Whether the reals past which nothing comes out of the clamp are rounded to the ends of t.
bool EndsAtCodes(const Ends& ends, const Type& type, ir::Numerics mode) {
  const ir::CodeRange codes = ir::CodesOf(type.dtype);
  const auto least = static_cast<int32_t>(codes.min), most = static_cast<int32_t>(codes.max);
  for (size_t c = 0; c < type.quant->scales.size(); ++c) {
    const float scale = type.quant->scales[c];
    const int32_t zero = type.quant->zero_points[c];
    const bool past = ends.low <= ops::DequantizeOne(least, scale, zero) &&
                      ends.high >= ops::DequantizeOne(most, scale, zero);
    if (past) continue;
    if (ops::QuantizeOneIn(mode, ends.low, scale, zero, codes) != least) return false;
    if (ops::QuantizeOneIn(mode, ends.high, scale, zero, codes) != most) return false;
  }
  return true;
}

void DropBeforeQuantize(Graph& graph, NodeId id, Context& context) {
  const Node& quantize = graph.node(id);
  if (!IsOwn(quantize, "Quantize")) return;
  const ValueId clamped = quantize.inputs[0];
  const Node* clamp = graph.Producer(clamped);
  if (clamp == nullptr || !clamp->op->clamps || graph.CountUses(clamped) != 1) return;
  const auto ends = ClampEnds(graph, *clamp);
  const ir::Numerics mode = context.settings().target.numerics;
  if (!ends || !EndsAtCodes(*ends, graph.type(quantize.result()), mode)) {
    context.Keep(clamp->name, "its bounds lie inside of the type that it is quantized to");
    return;
  }
  const NodeId clamp_id = graph.value(clamped).producer;
  context.Applied(kClippedByType, clamp->name,
                  {graph.name(clamped), graph.name(quantize.result())});
  graph.AddOrigin(id, clamp->origin);
  graph.SetInput(id, 0, clamp->inputs[0]);
  graph.Erase(clamp_id);
}

Status Run(Graph& graph, Context& context) {
  for (const NodeId id : graph.nodes()) {
    DropBeforeQuantize(graph, id, context);
    OCTAVO_CHECK(Fuse(graph, id, context));
    context.Checkpoint(graph);
  }
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
