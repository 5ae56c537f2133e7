// SPDX-License-Identifier: Apache-2.0
// Quantizes every pending constant once, as the last step: up to here, its parameters could change
// without loss.  Folds data movement of quantized constants (a Reshape or Transpose of weights).
#include <algorithm>

#include "core/base/mapped_pages.h"
#include "core/float_exec/run.h"
#include "core/ir/qdq_notes.h"
#include "core/ops/quantize_math.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

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
        "all operands are quantized constants; the result has no more elements than the first "
        "operand",
};
constexpr Rule kRules[] = {kQuantizeConstant, kFoldDataMovement};

// Whether the node only moves elements of quantized constants.
bool MovesConstant(const Graph& graph, const Node& node) {
  const ir::RescaleRule& rule = node.op->rescale;
  return node.results.size() == 1 && graph.type(node.result()).quantized() &&
         rule.at_input == ir::RescaleRule::AtInput::kSink &&
         rule.at_output == ir::RescaleRule::AtOutput::kHoist && rule.why_not == nullptr &&
         node.op->definition != nullptr &&
         node.op->QuantOf(graph, node).kind == ir::QuantRule::Kind::kSameScale &&
         graph.type(node.result()).elements() <= graph.type(node.inputs[0]).elements() &&
         std::ranges::all_of(node.inputs,
                             [&](ValueId input) { return input && graph.IsConstant(input); });
}

// The op's definition moves stored integers like any others; the result's type determines the
// channel axis.
Status Moved(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  const ValueId value = node.result();
  const ir::Type type = graph.type(value);
  std::vector<const ir::Tensor*> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(&graph.value(input).constant->tensor);
  OCTAVO_TRY(std::vector<ir::Tensor> quantized,
             float_exec::Evaluate(node, inputs, {ir::Type{type.dtype, type.shape, {}, {}}},
                                  *context.settings().pool));
  context.Applied(kFoldDataMovement, node.name, {graph.name(node.inputs[0]), graph.name(value)});
  const std::vector<ValueId> operands = node.inputs;
  graph.DefineAsConstant(value, ir::MakePayload(std::move(quantized[0])), type);
  for (const ValueId operand : operands) {
    if (!graph.value(operand).erased && graph.CountUses(operand) == 0) {
      graph.EraseConstant(operand);
    }
  }
  return {};
}

Status Run(Graph& graph, Context& context) {
  // What is float by now stays so.
  graph.metadata.erase(ir::kQdqFloatsKey);
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
  for (const NodeId id : graph.nodes()) {
    if (MovesConstant(graph, graph.node(id))) OCTAVO_CHECK(Moved(graph, id, context));
  }
  return {};
}

}  // namespace

const Pass kMergeConstantsPass = {
    .name = "merge-constants",
    .phase = Phase::kFinish,
    .postcondition =
        "every quantized constant is rounded and has the layout that its consumer reads",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
