// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/greedy_placement.h"

#include "core/ops/op_table.h"
#include "core/passes/rescale/absorb.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;
using AtInput = ir::RescaleRule::AtInput;

// The common operand type of the Rescales on all data operands; nullopt if the types differ.
std::optional<Type> CommonSource(const Graph& graph, const Node& node, int64_t& elements) {
  std::optional<Type> common;
  elements = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || node.op->RoleOf(i) != ir::Role::kData) continue;
    const Node* rescale = graph.Producer(node.inputs[i]);
    if (rescale == nullptr || !IsRescale(*rescale)) return std::nullopt;
    if (graph.CountUses(node.inputs[i]) != 1) return std::nullopt;
    Type type = graph.type(rescale->inputs[0]);
    if (!type.quant->per_tensor()) return std::nullopt;
    elements += type.elements();
    type.shape = graph.type(node.result()).shape;
    type.range.reset();
    if (common && *common != type) return std::nullopt;
    common = type;
  }
  return common;
}

bool AllConsumersFold(const Graph& graph, ValueId value) {
  if (graph.IsOutput(value)) return false;
  for (const ir::Use& use : graph.value(value).uses) {
    if (graph.node(use.node).op->rescale.at_input != AtInput::kFold) return false;
  }
  return true;
}

// If the Rescales before the node are to sink: the type of the node's result after that.
std::optional<Type> TypeAfterSinking(const Graph& graph, const Node& node, Context& context) {
  if (node.op->rescale.at_input != AtInput::kSink || node.results.size() != 1) return {};
  const ValueId y = node.result();
  if (!graph.type(y).quantized() || !graph.type(y).quant->per_tensor()) return {};
  int64_t elements = 0;
  std::optional<Type> source = CommonSource(graph, node, elements);
  if (!source) return {};
  if (node.op->rescale.why_not) {
    const std::string why = node.op->rescale.why_not(graph, node, *source, graph.type(y));
    if (!why.empty()) {
      context.Keep(node.name, why);
      return {};
    }
  }
  if (graph.type(y).elements() >= elements && !AllConsumersFold(graph, y)) return {};
  return source;
}

bool Sink(Graph& graph, NodeId id, Context& context) {
  const std::optional<Type> source = TypeAfterSinking(graph, graph.node(id), context);
  if (!source) return false;
  const ValueId y = graph.node(id).result();
  const Type old_type = graph.type(y);
  for (size_t i = 0; i < graph.node(id).inputs.size(); ++i) {
    const ValueId input = graph.node(id).inputs[i];
    if (!input || graph.node(id).op->RoleOf(i) != ir::Role::kData) continue;
    const NodeId rescale = graph.value(input).producer;
    graph.SetInput(id, i, graph.node(rescale).inputs[0]);
    graph.Erase(rescale);
  }
  const ir::OpDef* op = ops::FindOp("Rescale", "octavo");
  if (graph.IsOutput(y)) {
    const std::string kept = graph.UniqueName(graph.name(y) + ".kept");
    graph.Interpose(y, kept, *source, {.op = op});
    context.Applied(kSink, graph.node(id).name, {kept, graph.name(y)});
    return true;
  }
  graph.SetType(y, *source);
  const std::vector<ir::Use> uses = graph.value(y).uses;
  const std::string name = graph.UniqueName(graph.name(y) + ".r");
  const NodeId moved =
      graph.InsertAfter(id, {.op = op, .inputs = {y}, .results = {{name, old_type}}});
  for (const ir::Use& use : uses) {
    graph.SetInput(use.node, use.input, graph.node(moved).result());
  }
  context.Applied(kSink, graph.node(id).name, {graph.name(y), name});
  return true;
}

}  // namespace

bool SinksGreedily(const Graph& graph, const Settings& settings) {
  Findings scratch;
  Context context(settings, scratch, "place-rescales");
  for (const NodeId id : graph.nodes()) {
    if (TypeAfterSinking(graph, graph.node(id), context)) return true;
  }
  return false;
}

Status PlaceGreedily(Graph& graph, Context& context) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeId id : graph.nodes()) changed |= Sink(graph, id, context);
    if (changed) AbsorbRescales(graph, context);
    OCTAVO_CHECK(context.settings().stop.Check());
  }
  return {};
}

}  // namespace octavo::passes
