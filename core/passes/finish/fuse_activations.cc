// SPDX-License-Identifier: Apache-2.0
// Removes a Relu or Clip if the saturation of its producer's result has the same effect.
#include "core/ops/quantize_math.h"
#include "core/passes/analysis/clamp.h"
#include "core/passes/analysis/implicit_relu.h"
#include "core/passes/analysis/order.h"
#include "core/passes/analysis/type_range.h"
#include "core/passes/passes.h"
#include "core/passes/quantize/float_choice.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr Rule kRemoveIdentity = {
    .id = "fuse-activations/remove-identity",
    .pattern = "Clamp(x) : t(x)",
    .replacement = "x",
    .effect = Effect::kExact,
    .condition = "the clamp maps every quantized value of the type to itself, by enumeration",
};
constexpr Rule kFoldIntoQuantize = {
    .id = "fuse-activations/fold-into-quantize",
    .pattern = "Quantize(Clamp(x)) : t",
    .replacement = "Quantize(x) : t",
    .effect = Effect::kExact,
    .condition =
        "in every channel the bounds lie outside of range(t), or Q(lo) = qmin and Q(hi) = qmax in "
        "the numerics mode; the clamp has one consumer; neither the target nor the job keeps it in "
        "float",
};
constexpr Rule kFuseIntoProducer = {
    .id = "fuse-activations/fuse-into-producer",
    .pattern = "Clamp(Op(..) : t1) : t2",
    .replacement = "Op(..) : t2",
    .effect = Effect::kFewerRoundings,
    .condition =
        "Op's result parameters are free; its result has one consumer; the clamp is an identity on "
        "t2; t1 is an implicit Relu only where t2 or Op is; range(t2) within range(t1), else "
        "fewer-clamps",
};
constexpr Rule kRules[] = {kRemoveIdentity, kFoldIntoQuantize, kFuseIntoProducer};

// Returns the producer that now gives the clamped result, which may be a clamp itself; invalid if
// the clamp stays, or others read its operand.
NodeId FuseClamp(Graph& graph, NodeId id, Context& context) {
  const Node node = graph.node(id);
  const ValueId x = node.inputs[0];
  const ValueId y = node.result();
  const Type in = graph.type(x);
  const Type out = graph.type(y);
  if (!in.quantized() || !out.quantized()) return {};
  if (!ClampIsIdentity(graph, node, out, *context.settings().target.numerics)) return {};
  const bool same = in.SameQuantization(out);
  const NodeId producer = graph.value(x).producer;
  const bool sole_consumer = graph.CountUses(x) == 1;
  if (graph.IsOutput(y) && !(producer && sole_consumer)) {
    context.Keep(
        node.name,
        fmt::format("its result is graph output '{}', and '{}' {}", graph.name(y), graph.name(x),
                    producer ? "has other consumers" : "is not computed by a node"));
    return {};
  }
  if (!same) {
    if (!producer || !sole_consumer ||
        graph.node(producer).op->rescale.at_output != ir::RescaleRule::AtOutput::kFold) {
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
    const std::string order = WhyOrderChanges(graph, y);
    const Effect effect = order.empty()
                              ? EffectOfOmitting(out, in, *context.settings().target.numerics)
                              : Effect::kNewParameters;
    if (!context.Allows(effect)) {
      context.Keep(node.name, fmt::format("{}{}{} has the effect {}, which exceeds the limit {}",
                                          order, order.empty() ? "" : "; ", kFuseIntoProducer.id,
                                          Name(effect), Name(context.settings().limit)));
      return {};
    }
    context.Applied(kFuseIntoProducer, effect, node.name, {graph.name(x), graph.name(y)});
  } else {
    context.Applied(kRemoveIdentity, node.name, {graph.name(x), graph.name(y)});
  }
  if (producer) graph.AddOrigin(producer, node.origin);
  if (producer && sole_consumer) {
    // Keeps the name of the clamped value, because the producer now computes its elements.
    graph.Absorb(x, y);
    return producer;
  }
  graph.Forward(y, x);
  graph.Erase(id);
  return {};
}

void Fuse(Graph& graph, NodeId id, Context& context) {
  while (id && graph.node(id).op->clamps && graph.node(id).results.size() == 1) {
    id = FuseClamp(graph, id, context);
  }
}

// Whether quantizing to the type clamps at least as tightly as the clamp itself.
bool BoundsAreTypeLimits(const Ends& ends, const Type& type, const numerics::Mode& mode) {
  const ir::IntegerRange limits = ir::IntegerRangeOf(type.dtype);
  const auto least = static_cast<int32_t>(limits.min), most = static_cast<int32_t>(limits.max);
  for (size_t c = 0; c < type.quant->scales.size(); ++c) {
    const auto quant = numerics::ChannelQuant::Of(type, static_cast<int64_t>(c));
    const bool past = ends.low <= ops::DequantizeOne(least, quant.scale, quant.zero_point) &&
                      ends.high >= ops::DequantizeOne(most, quant.scale, quant.zero_point);
    if (past) continue;
    if (numerics::QuantizeOne(mode.quantize, ends.low, quant, limits) != least) return false;
    if (numerics::QuantizeOne(mode.quantize, ends.high, quant, limits) != most) return false;
  }
  return true;
}

void DropBeforeQuantize(Graph& graph, NodeId id, const FloatChoice& choice, Context& context) {
  const Node& quantize = graph.node(id);
  if (!IsOwn(quantize, "Quantize")) return;
  const ValueId clamped = quantize.inputs[0];
  const Node* clamp = graph.Producer(clamped);
  if (clamp == nullptr || !clamp->op->clamps || graph.CountUses(clamped) != 1) return;
  if (std::string why = choice.WhyFloat(graph, *clamp); !why.empty()) {
    context.Keep(clamp->name, std::move(why));
    return;
  }
  const auto ends = ClampEnds(graph, *clamp);
  const numerics::Mode& mode = *context.settings().target.numerics;
  if (!ends || !BoundsAreTypeLimits(*ends, graph.type(quantize.result()), mode)) {
    context.Keep(clamp->name,
                 "its bounds lie within the range of the type that it is quantized to");
    return;
  }
  const NodeId clamp_id = graph.value(clamped).producer;
  context.Applied(kFoldIntoQuantize, clamp->name,
                  {graph.name(clamped), graph.name(quantize.result())});
  graph.AddOrigin(id, clamp->origin);
  graph.SetInput(id, 0, clamp->inputs[0]);
  graph.Erase(clamp_id);
}

Status Run(Graph& graph, Context& context) {
  OCTAVO_TRY(const FloatChoice choice, FloatChoice::Of(graph, context.settings()));
  for (const NodeId id : graph.nodes()) {
    DropBeforeQuantize(graph, id, choice, context);
    Fuse(graph, id, context);
    context.Checkpoint(graph);
  }
  return {};
}

}  // namespace

const Pass kFuseActivationsPass = {
    .name = "fuse-activations",
    .phase = Phase::kOptimize,
    .postcondition = "no Relu or Clip repeats the saturation of its producer",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
