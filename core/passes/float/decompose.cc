// SPDX-License-Identifier: Apache-2.0
#include "core/passes/float/decompose.h"

#include <algorithm>
#include <initializer_list>

#include "core/passes/rewrite.h"
#include "core/patterns/reduction.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

// Whether the target prefers `instead` to `op`.
bool Prefers(const Context& context, const Rule& rule, std::string_view op,
             std::initializer_list<std::string_view> instead) {
  const target::Target& target = context.settings().target;
  const auto floats = [&](std::string_view name) {
    return !target.WhyFloat(name, ir::QuantRule::Kind::kFree).empty();
  };
  if (target.Keeps(op) || !context.Allows(rule.effect)) return false;
  return target.Lowers(op) || (floats(op) && std::none_of(instead.begin(), instead.end(), floats));
}

// Inserts a node before `position`; its result is `name` and has x's dtype and shape.
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

ValueId Number(Graph& graph, const std::string& name, float value) {
  return AddConstant(graph, name, ir::Tensor::Scalar(value));
}

std::optional<ir::Range> Times(std::optional<ir::Range> range, float factor) {
  if (!range) return range;
  const float a = factor * range->min, b = factor * range->max;
  return ir::Range{std::min(a, b), std::max(a, b)};
}

// factor * x, with a name derived from the result of the node at `position`; x itself if factor is
// 1.
ValueId Scaled(Graph& graph, NodeId position, ValueId x, float factor, std::string_view number,
               Context& context, const ValueRanges& ranges) {
  if (factor == 1) return x;
  const std::string name = graph.name(graph.node(position).result());
  const ValueId c = Number(graph, fmt::format("{}.{}", name, number), factor);
  const ValueId scaled = Insert(graph, position, name + ".scaled", "Mul", {x, c});
  DeriveRange(context, graph.name(scaled), Times(KnownRange(graph, context, ranges, x), factor));
  return scaled;
}

}  // namespace

void LowerSwish(Graph& graph, NodeId id, Context& context, const ValueRanges& ranges) {
  if (!Is(graph.node(id), "Swish") ||
      !Prefers(context, kDecomposeSwish, "Swish", {"Sigmoid", "Mul"})) {
    return;
  }
  const std::string name = graph.name(graph.node(id).result());
  const ValueId x = graph.node(id).input(0);
  const float alpha = graph.node(id).attributes.Float("alpha", 1);
  context.Applied(kDecomposeSwish, graph.node(id).name, {name});
  const ValueId scaled = Scaled(graph, id, x, alpha, "alpha", context, ranges);
  const ValueId gate = Insert(graph, id, name + ".sigmoid", "Sigmoid", {scaled});
  Recompute(graph, id, "Mul", {x, gate}, {});
}

void LowerHardSigmoid(Graph& graph, NodeId id, Context& context, const ValueRanges& ranges) {
  if (!Is(graph.node(id), "HardSigmoid") ||
      graph.type(graph.node(id).result()).dtype != ir::DType::kF32 ||
      !Prefers(context, kDecomposeHardSigmoid, "HardSigmoid", {"Mul", "Add", "Clip"})) {
    return;
  }
  const std::string name = graph.name(graph.node(id).result());
  const ValueId x = graph.node(id).input(0);
  const float alpha = graph.node(id).attributes.Float("alpha", 0.2f);
  const float beta = graph.node(id).attributes.Float("beta", 0.5f);
  context.Applied(kDecomposeHardSigmoid, graph.node(id).name, {name});
  const ValueId scaled = Scaled(graph, id, x, alpha, "alpha", context, ranges);
  const ValueId shift = Number(graph, name + ".beta", beta);
  const ValueId shifted = Insert(graph, id, name + ".shifted", "Add", {scaled, shift});
  DeriveRange(context, graph.name(shifted),
              Plus(Times(KnownRange(graph, context, ranges, x), alpha), ir::Range{beta, beta}));
  const ValueId least = Number(graph, name + ".min", 0), most = Number(graph, name + ".max", 1);
  Recompute(graph, id, "Clip", {shifted, least, most}, {});
}

void LowerMean(Graph& graph, NodeId id, Context& context, const ValueRanges& ranges) {
  if (!Is(graph.node(id), "ReduceMean") ||
      !Prefers(context, kReduceMeanToGlobalAveragePool, "ReduceMean", {"GlobalAveragePool"})) {
    return;
  }
  const ValueId x = graph.node(id).input(0), y = graph.node(id).result();
  const ir::Shape& shape = graph.type(x).shape;
  const auto axes = patterns::AxesOf(graph, graph.node(id));
  if (shape.size() < 3 || !axes || axes->size() != shape.size() - 2 || axes->front() != 2) return;
  const std::string name = graph.name(y);
  context.Applied(kReduceMeanToGlobalAveragePool, graph.node(id).name, {name});
  if (graph.type(y).shape.size() == shape.size()) {
    Recompute(graph, id, "GlobalAveragePool", {x}, {});
    return;
  }
  ir::Type kept{graph.type(x).dtype, shape, {}, {}};
  std::fill(kept.shape.begin() + 2, kept.shape.end(), 1);
  const std::vector<std::string> origin = graph.node(id).origin;
  const NodeId pool = graph.InsertBefore(id, {.op = Op("GlobalAveragePool"),
                                              .inputs = {x},
                                              .results = {{graph.UniqueName(name + ".pool"), kept}},
                                              .origin = origin});
  const ValueId pooled = graph.node(pool).result();
  DeriveRange(context, graph.name(pooled), KnownRange(graph, context, ranges, y));
  const ValueId wanted = AddConstant(graph, name + ".shape", ir::Tensor::Ints(graph.type(y).shape));
  Recompute(graph, id, "Reshape", {pooled, wanted}, {});
}

}  // namespace octavo::passes
