// Rounds every Quantize of a constant, once and last: until here its parameters could change at
// no loss.
//
//   merged   Quantize(constant) : t  ->  constant : t      exact
//   moved    move(constant codes)    ->  constant codes    exact
//            weights behind a Reshape or a Transpose lie then as the op reads them
#include <algorithm>

#include "core/base/mapped_pages.h"
#include "core/ops/mode_quantize.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"
#include "core/reference/run.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

constexpr Rule kMerged = {"merged", "Quantize(constant) : t -> constant : t", Effect::kExact,
                          "the value is the same; only when it is rounded changes"};
constexpr Rule kMoved = {"moved", "move(constant codes) -> constant codes", Effect::kExact,
                         "all operands are constants; not more elements"};
constexpr Rule kRules[] = {kMerged, kMoved};

// Whether the node hands on codes of constants as they are.
bool MovesConstant(const Graph& graph, const Node& node) {
  const ir::RescaleRule& rule = node.op->rescale;
  return node.results.size() == 1 && graph.type(node.result()).quantized() &&
         rule.at_input == ir::RescaleRule::AtInput::kSunk &&
         rule.at_output == ir::RescaleRule::AtOutput::kRaised && rule.why_not == nullptr &&
         node.op->reference != nullptr &&
         node.op->QuantOf(graph, node).kind == ir::QuantRule::Kind::kSameAsInput &&
         graph.type(node.result()).elements() <= graph.type(node.inputs[0]).elements() &&
         std::ranges::all_of(node.inputs,
                             [&](ValueId input) { return input && graph.IsConstant(input); });
}

// The definition moves integers like any others; the type says along which axis they are read.
Status Moved(Graph& graph, NodeId id, Context& context) {
  const Node& node = graph.node(id);
  const ValueId value = node.result();
  const ir::Type type = graph.type(value);
  std::vector<const ir::Tensor*> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(&graph.value(input).constant->tensor);
  OCTAVO_TRY(std::vector<ir::Tensor> codes,
             reference::Evaluate(node, inputs, {ir::Type{type.dtype, type.shape, {}, {}}},
                                 *context.settings().pool));
  context.Applied(kMoved, node.name, {graph.name(node.inputs[0]), graph.name(value)});
  const std::vector<ValueId> operands = node.inputs;
  graph.DefineAsConstant(value, ir::MakePayload(std::move(codes[0])), type);
  for (const ValueId operand : operands) {
    if (!graph.value(operand).erased && graph.CountUses(operand) == 0) {
      graph.EraseConstant(operand);
    }
  }
  return {};
}

Status Run(Graph& graph, Context& context) {
  const ir::Numerics mode = context.settings().target.numerics;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!IsOwn(node, "Quantize")) continue;
    const ValueId payload = node.inputs[0];
    if (!graph.IsConstant(payload)) continue;
    const ValueId value = node.result();
    const ir::Type type = graph.type(value);
    const ir::Tensor& reals = graph.value(payload).constant->tensor;
    ir::Tensor codes = ops::QuantizeTensorIn(mode, reals, type);
    ReleasePages(reals.raw_bytes());
    context.Applied(kMerged, node.name, {graph.name(payload), graph.name(value)});
    graph.DefineAsConstant(value, ir::MakePayload(std::move(codes)), type);
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
    .promise = "every quantized constant holds its codes, as its readers take them",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
