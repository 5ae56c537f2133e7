// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/rescale_equivalents.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/ops/op_table.h"
#include "core/ops/quantize_math.h"
#include "core/passes/analysis/clamp.h"
#include "core/passes/analysis/identity.h"
#include "core/passes/analysis/rescale_chain.h"
#include "core/passes/analysis/type_range.h"
#include "core/passes/rescale/absorb_rules.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;
using numerics::Mode;

// The integer definition of a mean of one element multiplies by s_x / s_y, but a Rescale multiplies
// by s_x and divides by s_y.  Returns whether all results agree.
bool MeanOfOneIsRescale(const Type& from, const Type& to) {
  if (!from.quant->per_tensor() || !to.quant->per_tensor() || ir::SizeOf(from.dtype) > 2) {
    return false;
  }
  const ir::IntegerRange range = PossibleValues(from, 0, numerics::kOnnx);
  const float s_x = from.quant->scale(), s_y = to.quant->scale();
  for (int64_t code = range.min; code <= range.max; ++code) {
    const auto steps = static_cast<float>(code - from.quant->zero_point());
    if (std::nearbyint(steps * (s_x / s_y)) != std::nearbyint(steps * s_x / s_y)) return false;
  }
  return true;
}

// The operand that the node returns with unchanged real values; invalid if there is none.
ValueId RescaledOperand(const Graph& graph, const Node& node, const Settings& settings) {
  const Mode& mode = *settings.target.numerics;
  const bool pairs = mode.rescale_is_quantize_of_dequantize;
  if (node.op->clamps && (pairs || node.inputs.size() == 1)) {
    const Type& from = graph.type(node.inputs[0]);
    if (from.quantized() && ClampKeepsRealValues(graph, node, from, mode)) {
      return node.inputs[0];
    }
  }
  if (!pairs) return {};
  const ValueId x = RealIdentityOperand(graph, node, mode);
  if (!x || !graph.type(x).quantized() || !Is(node, "AveragePool")) return x;
  const bool rescales =
      mode.qlinear && MeanOfOneIsRescale(graph.type(x), graph.type(node.result()));
  return rescales ? x : ValueId{};
}

}  // namespace

bool FoldConstantRescale(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  const Mode& mode = *context.settings().target.numerics;
  if (!mode.rescale_is_quantize_of_dequantize) return false;
  const ValueId x = node.inputs[0], r = node.result();
  const NodeId producer = graph.value(x).producer;
  const bool pending = producer && IsOwn(graph.node(producer), "Quantize") &&
                       graph.IsConstant(graph.node(producer).inputs[0]);
  if (!pending && !graph.IsConstant(x)) return false;
  const ValueId stored = pending ? graph.node(producer).inputs[0] : x;
  ir::Tensor real = graph.value(stored).constant->tensor;
  if (pending) real = ops::QuantizeTensor(mode.quantize, real, graph.type(x));
  real = ops::DequantizeTensor(real, *graph.type(x).quant);
  context.Applied(absorb_rules::kFoldConstant, node.name, {graph.name(x), graph.name(r)});
  const ValueId payload =
      graph.AddConstant(graph.UniqueName(graph.name(r) + ".float"), std::move(real));
  graph.Redefine(id, ops::FindOp("Quantize", "octavo"), {payload}, {});
  if (pending && graph.CountUses(x) == 0) graph.Erase(producer);
  if (graph.CountUses(stored) == 0) {
    graph.AddAlias(graph.name(stored), r);
    graph.EraseConstant(stored);
  }
  return true;
}

bool IdentityToRescale(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (node.results.size() != 1 || !node.op->domain.empty()) return false;
  const ValueId y = node.result();
  if (!graph.type(y).quantized()) return false;
  const ValueId x = RescaledOperand(graph, node, context.settings());
  if (!x || !graph.type(x).quantized() || graph.type(x).SameQuantization(graph.type(y)))
    return false;
  if (graph.type(x).shape != graph.type(y).shape) return false;
  context.Applied(absorb_rules::kIdentityToRescale, node.name, {graph.name(x), graph.name(y)});
  graph.Redefine(id, ops::FindOp("Rescale", "octavo"), {x}, {});
  return true;
}

bool SinkBelowTopK(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!Is(node, "TopK")) return false;
  const ValueId r = node.inputs[0], y = node.results[0];
  const Node* rescale = graph.Producer(r);
  if (!IsOwn(rescale, "Rescale") || graph.CountUses(r) != 1) return false;
  const ValueId x = rescale->inputs[0];
  const Type from = graph.type(x), to = graph.type(y);
  if (!from.quant->per_tensor() || !to.quant->per_tensor() ||
      !IsInjective(from, to, *context.settings().target.numerics)) {
    context.Keep(node.name,
                 "its indices would change, since the Rescale makes distinct values equal");
    return false;
  }
  context.Applied(absorb_rules::kSinkBelowTopK, node.name, {graph.name(r), graph.name(y)});
  const NodeId old = graph.value(r).producer;
  const ir::OpDef* op = graph.node(old).op;
  graph.SetInput(id, 0, x);
  graph.Erase(old);
  Type chosen = from;
  chosen.shape = to.shape;
  if (graph.IsOutput(y)) {
    graph.Interpose(y, graph.UniqueName(graph.name(y) + ".kept"), std::move(chosen), {.op = op});
    return true;
  }
  graph.SetType(y, std::move(chosen));
  const std::vector<ir::Use> uses = graph.value(y).uses;
  if (uses.empty()) return true;
  const std::string name = graph.UniqueName(graph.name(y) + ".r");
  const NodeId below = graph.InsertAfter(id, {.op = op, .inputs = {y}, .results = {{name, to}}});
  for (const ir::Use& use : uses) {
    graph.SetInput(use.node, use.input, graph.node(below).result());
  }
  return true;
}

}  // namespace octavo::passes
