#include "core/passes/rescale_forms.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/ops/op_table.h"
#include "core/ops/quantize_math.h"
#include "core/passes/clamp_codes.h"
#include "core/passes/code_map.h"
#include "core/passes/noop.h"
#include "core/passes/rewrite.h"
#include "core/passes/type_range.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Numerics;
using ir::Type;
using ir::ValueId;

bool SameCodes(const Type& a, const Type& b) { return a.dtype == b.dtype && a.quant == b.quant; }

// The integer definition of a mean of one element multiplies by s_x / s_y, where a Rescale
// multiplies and divides: whether all codes agree.
bool MeanOfOneIsRescale(const Type& from, const Type& to) {
  if (!from.quant->per_tensor() || !to.quant->per_tensor() || ir::SizeOf(from.dtype) > 2) {
    return false;
  }
  const ir::CodeRange codes = OccurringCodes(from, 0, Numerics::kOnnx);
  const float s_x = from.quant->scale(), s_y = to.quant->scale();
  for (int64_t code = codes.min; code <= codes.max; ++code) {
    const auto steps = static_cast<float>(code - from.quant->zero_point());
    if (std::nearbyint(steps * (s_x / s_y)) != std::nearbyint(steps * s_x / s_y)) return false;
  }
  return true;
}

// The operand that the node hands on, as reals.
ValueId HandedOn(const Graph& graph, const Node& node, const Settings& settings) {
  const Numerics mode = settings.target.numerics;
  const bool pairs = mode == Numerics::kOnnx || mode == Numerics::kGlowInterpreter;
  if (node.op->clamps && (pairs || node.inputs.size() == 1)) {
    const Type& from = graph.type(node.inputs[0]);
    if (from.quantized() && ClampKeepsReals(graph, node, from, mode)) {
      return node.inputs[0];
    }
  }
  if (!pairs) return {};
  const ValueId x = SameRealsAs(graph, node, mode);
  if (!x || !graph.type(x).quantized() || !Is(node, "AveragePool")) return x;
  const bool rescales =
      mode == Numerics::kOnnx && MeanOfOneIsRescale(graph.type(x), graph.type(node.result()));
  return rescales ? x : ValueId{};
}

}  // namespace

bool RescaleConstant(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (context.settings().target.numerics != Numerics::kOnnx) return false;
  const ValueId x = node.inputs[0];
  const NodeId producer = graph.value(x).producer;
  const bool pending = producer && IsOwn(graph.node(producer), "Quantize") &&
                       graph.IsConstant(graph.node(producer).inputs[0]);
  if (!pending && !graph.IsConstant(x)) return false;
  ir::Tensor codes =
      pending ? ops::QuantizeTensor(graph.value(graph.node(producer).inputs[0]).constant->tensor,
                                    graph.type(x))
              : graph.value(x).constant->tensor.Clone();
  const ValueId r = node.result();
  const Type type = graph.type(r);
  codes = ops::QuantizeTensor(ops::DequantizeTensor(codes, *graph.type(x).quant), type);
  context.Applied(kConstantRescaled, node.name, {graph.name(x), graph.name(r)});
  graph.DefineAsConstant(r, ir::MakePayload(std::move(codes)), type);
  ValueId old = x;
  if (pending && graph.CountUses(x) == 0) {
    old = graph.node(producer).inputs[0];
    graph.Erase(producer);
  }
  if (graph.IsConstant(old) && graph.CountUses(old) == 0) {
    graph.AddAlias(graph.name(old), r);
    graph.EraseConstant(old);
  }
  return true;
}

bool Disguise(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (node.results.size() != 1 || !node.op->domain.empty()) return false;
  const ValueId y = node.result();
  if (!graph.type(y).quantized()) return false;
  const ValueId x = HandedOn(graph, node, context.settings());
  if (!x || !graph.type(x).quantized() || SameCodes(graph.type(x), graph.type(y))) return false;
  if (graph.type(x).shape != graph.type(y).shape) return false;
  context.Applied(kDisguised, node.name, {graph.name(x), graph.name(y)});
  graph.Redefine(id, ops::FindOp("Rescale", "octavo"), {x}, {});
  return true;
}

bool SinkBelowOrder(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!Is(node, "TopK")) return false;
  const ValueId r = node.inputs[0], y = node.results[0];
  const Node* rescale = graph.Producer(r);
  if (!IsOwn(rescale, "Rescale") || graph.CountUses(r) != 1) return false;
  const ValueId x = rescale->inputs[0];
  const Type from = graph.type(x), to = graph.type(y);
  if (!from.quant->per_tensor() || !to.quant->per_tensor() ||
      !IsInjective(from, to, context.settings().target.numerics)) {
    context.Keep(node.name, "it would see that the Rescale makes codes equal");
    return false;
  }
  if (graph.IsOutput(y)) {
    context.Keep(node.name, "its values are a graph output of the Rescale's type");
    return false;
  }
  context.Applied(kOrderSunk, node.name, {graph.name(r), graph.name(y)});
  const NodeId old = graph.value(r).producer;
  const ir::OpDef* op = graph.node(old).op;
  graph.SetInput(id, 0, x);
  graph.Erase(old);
  Type chosen = from;
  chosen.shape = to.shape;
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
