// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/sink_dequantize.h"

#include <algorithm>
#include <vector>

#include "core/ir/map_quant.h"
#include "core/ops/op_table.h"
#include "core/passes/qdq/qdq_rules.h"

namespace octavo::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

// Whether the node only moves the elements of its first operand, as specified by constant
// parameters.
bool OnlyMovesElements(const ir::Graph& graph, const ir::Node& node) {
  using Rule = ir::RescaleRule;
  if (node.op->rescale.at_input != Rule::AtInput::kSink || node.op->rescale.why_not != nullptr ||
      node.op->rescale.at_output != Rule::AtOutput::kHoist || node.results.size() != 1 ||
      node.op->QuantOf(graph, node).kind != ir::QuantRule::Kind::kSameScale) {
    return false;
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && !graph.IsConstant(node.inputs[i])) return false;
  }
  return true;
}

// q if `real` is Dequantize(q) and q depends only on constants; else invalid.
ValueId ConstantOperand(const ir::Graph& graph, ValueId real, const ir::OpDef* dequantize) {
  const ir::Node* node = graph.Producer(real);
  if (node == nullptr || node->op != dequantize) return {};
  ValueId root = node->input(0);
  while (const ir::Node* producer = graph.Producer(root)) {
    if (producer->inputs.empty()) return {};
    for (size_t i = 1; i < producer->inputs.size(); ++i) {
      if (producer->inputs[i] && !graph.IsConstant(producer->inputs[i])) return {};
    }
    root = producer->input(0);
  }
  return graph.IsConstant(root) ? node->input(0) : ValueId{};
}

// Whether no op reads the value, or only Quantizes to that type: the op before folds without a
// Dequantize below it.
bool IsQuantizedTo(const ir::Graph& graph, ValueId value, const ir::Type& type) {
  const ir::Value& it = graph.value(value);
  return (it.output_uses == 0 || it.uses.empty()) &&
         std::ranges::all_of(it.uses, [&](const ir::Use& use) {
           const ir::Node& consumer = graph.node(use.node);
           return consumer.op == ops::FindOp("Quantize", "octavo") &&
                  graph.type(consumer.result()).SameQuantization(type);
         });
}

void Sink(ir::Graph& graph, NodeId id, const ir::OpDef* dequantize, Context& context) {
  const ir::Node& node = graph.node(id);
  const ValueId result = node.result();
  const ValueId quantized = ConstantOperand(graph, node.input(0), dequantize);
  if (!quantized || graph.type(result).quantized()) return;
  const auto quant = ir::MapQuant(graph, node, 0, 0, *graph.type(quantized).quant);
  if (!quant) return;
  const ir::Type type{graph.type(quantized).dtype, graph.type(result).shape, quant, {}};
  if (IsQuantizedTo(graph, result, type)) return;
  context.Applied(kSinkDequantize, node.name, {graph.name(result)});
  graph.SetInput(id, 0, quantized);
  graph.Interpose(result, graph.UniqueName(graph.name(result) + ".codes"), type,
                  {.name = graph.UniqueNodeName(graph.name(result)), .op = dequantize});
}

}  // namespace

void SinkDequantize(ir::Graph& graph, const std::set<std::string>& kept_float, Context& context) {
  const ir::OpDef* dequantize = ops::FindOp("Dequantize", "octavo");
  std::vector<NodeId> moves;
  for (const NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (OnlyMovesElements(graph, node) && !kept_float.contains(node.name)) moves.push_back(id);
  }
  for (const NodeId id : moves) Sink(graph, id, dequantize, context);
}

}  // namespace octavo::passes
