// SPDX-License-Identifier: Apache-2.0
// Quantizes every pending constant once, as the last step: up to here, its parameters could change
// without loss.  Then evaluates the ops whose operands are quantized constants, in the job's
// numerics mode.
#include <algorithm>

#include "core/base/mapped_pages.h"
#include "core/ir/qdq_notes.h"
#include "core/ops/quantize_math.h"
#include "core/passes/finish/gather_integers.h"
#include "core/passes/fold_budget.h"
#include "core/passes/passes.h"
#include "core/passes/quantize/float_choice.h"
#include "core/passes/rewrite.h"
#include "core/runtime/evaluate.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kQuantizeConstant = {
    .id = "merge-constants/quantize-constant",
    .pattern = "Quantize(constant) : t",
    .replacement = "constant : t",
    .effect = Effect::kExact,
    .condition = "the operand is constant",
};
constexpr Rule kFoldDataMovement = {
    .id = "merge-constants/fold-data-movement",
    .pattern = "Move(constants)",
    .replacement = "constant",
    .effect = Effect::kExact,
    .condition =
        "Move copies quantized elements (Concat, Split, Expand, Tile, Pad, ..); per-channel "
        "parameters follow the axis rule; constants grow by at most --fold-budget bytes per job",
};
constexpr Rule kFoldOp = {
    .id = "merge-constants/fold-op",
    .pattern = "Op(constants) : t",
    .replacement = "constant : t",
    .effect = Effect::kExact,
    .condition =
        "Op computes quantized values (Add, Mul, MatMul, Rescale, ..), indices or bools, and the "
        "numerics mode defines it: the constant has the bits that the runtime would compute; "
        "constants grow by at most --fold-budget bytes per job",
};
constexpr Rule kRules[] = {kQuantizeConstant, kFoldDataMovement, kFoldOp, kGatherIntegers};

// Whether the node computes integers from constants, at least one of them quantized.  A Dequantize
// stays: the quantized form is smaller.
bool ComputesConstants(const Graph& graph, const Node& node) {
  bool quantized = false;
  for (const ValueId input : node.inputs) {
    if (!input) continue;
    if (!graph.IsConstant(input)) return false;
    quantized |= graph.type(input).quantized();
  }
  return quantized && std::ranges::none_of(node.results, [&](ValueId result) {
           return ir::IsFloat(graph.type(result).dtype);
         });
}

void Fold(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  if (!ComputesConstants(graph, node)) return;
  const std::optional<int64_t> growth = GrowthWithinBudget(graph, node, context);
  if (!growth) return;
  const Settings& settings = context.settings();
  auto results = runtime::Evaluate(graph, node, *settings.target.numerics, *settings.pool);
  if (!results) {
    context.Keep(node.name, fmt::format("it cannot be evaluated: {}", results.error().message));
    return;
  }
  std::vector<std::string> names = {graph.name(node.inputs[0])};
  for (const ValueId result : node.results) names.push_back(graph.name(result));
  const bool moves = node.op->moves_data >= ir::Movement::kFill;
  context.Applied(moves ? kFoldDataMovement : kFoldOp, node.name, std::move(names));
  DefineAsFolded(graph, id, *std::move(results), *growth, context);
}

Status Run(Graph& graph, Context& context) {
  // What is float by now stays so.
  graph.metadata.erase(ir::kQdqFloatsKey);
  graph.metadata.erase(ir::kKeptFloatKey);  // export lists the nodes anew
  if (graph.metadata.contains(ir::kFloatOnRequestKey)) {
    OCTAVO_TRY(const FloatChoice choice, FloatChoice::Of(graph, context.settings()));
    choice.Note(graph, context);  // without the nodes that passes removed
  }
  const numerics::Mode& mode = *context.settings().target.numerics;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!IsOwn(node, "Quantize")) continue;
    const ValueId payload = node.inputs[0];
    if (!graph.IsConstant(payload)) continue;
    const ValueId value = node.result();
    const ir::Type type = graph.type(value);
    const ir::Tensor& floats = graph.value(payload).constant->tensor;
    ir::Tensor quantized = ops::QuantizeTensor(mode.quantize, floats, type);
    ReleasePages(floats.raw_bytes());
    context.Applied(kQuantizeConstant, node.name, {graph.name(payload), graph.name(value)});
    graph.DefineAsConstant(value, ir::MakePayload(std::move(quantized)), type);
    if (graph.CountUses(payload) == 0) {
      graph.AddAlias(graph.name(payload), value);
      graph.EraseConstant(payload);
    }
  }
  for (const NodeId id : graph.nodes()) Fold(graph, id, context);
  for (const NodeId id : graph.nodes()) GatherIntegers(graph, id, context);
  return {};
}

}  // namespace

const Pass kMergeConstantsPass = {
    .name = "merge-constants",
    .phase = Phase::kFinish,
    .postcondition =
        "every quantized constant is rounded, and every quantized value that is computed from "
        "constants is one, within the fold budget",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
