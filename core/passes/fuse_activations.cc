// Lets the clamp of a producer's result do the work of a Relu or Clip.
//
//   identity   Clamp(x) : t(x)                 ->  x              exact
//              where it maps every code of t to itself (proved by enumeration)
//   combined   Clamp(Op(..) : t1) : t2         ->  Op(..) : t2    fewer roundings
//              where the clamp is then an identity
#include <algorithm>

#include "core/ops/quantize_math.h"
#include "core/passes/passes.h"
#include "core/passes/type_range.h"
#include "core/reference/run.h"

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

// Whether the clamp maps every code of `type` to itself.
Result<bool> IsIdentityOn(const Graph& graph, const Node& node, const Type& type,
                          ThreadPool& pool) {
  if (!type.quant->per_tensor() || ir::SizeOf(type.dtype) > 2) return false;
  const ir::CodeRange range = ir::CodesOf(type.dtype);
  const int64_t count = range.max - range.min + 1;
  ir::Tensor reals(ir::DType::kF32, {count});
  for (int64_t i = 0; i < count; ++i) {
    reals.mutable_values<float>()[i] = ops::DequantizeOne(
        static_cast<int32_t>(range.min + i), type.quant->scale(), type.quant->zero_point());
  }
  std::vector<const ir::Tensor*> inputs = {&reals};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && !graph.IsConstant(node.inputs[i])) return false;
    inputs.push_back(node.inputs[i] ? &graph.value(node.inputs[i]).constant->tensor : nullptr);
  }
  OCTAVO_TRY(const std::vector<ir::Tensor> clamped,
             reference::Evaluate(node, inputs, {Type{ir::DType::kF32, {count}, {}, {}}}, pool));
  for (int64_t i = 0; i < count; ++i) {
    const int32_t code = ops::QuantizeOne(clamped[0].values<float>()[i], type.quant->scale(),
                                          type.quant->zero_point(), range);
    if (code != range.min + i) return false;
  }
  return true;
}

Status Fuse(Graph& graph, NodeId id, Context& context) {
  const Node node = graph.node(id);
  if (!node.op->clamps || node.results.size() != 1) return {};
  const ValueId x = node.inputs[0];
  const ValueId y = node.result();
  const Type in = graph.type(x);
  const Type out = graph.type(y);
  if (!in.quantized() || !out.quantized()) return {};
  OCTAVO_TRY(const bool identity, IsIdentityOn(graph, node, out, *context.settings().pool));
  if (!identity) return {};
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
  } else {
    graph.Forward(y, x);
    graph.Erase(id);
  }
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
