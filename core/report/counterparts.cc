// SPDX-License-Identifier: Apache-2.0
#include "core/report/counterparts.h"

namespace octavo::report {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

bool Is(const Node* node, std::string_view op) {
  return node != nullptr && node->op->domain == "octavo" && node->op->name == op;
}

// Whether the node only changes the representation of a value.
bool ChangesRepresentation(const Node* node) {
  return Is(node, "Quantize") || Is(node, "Dequantize") || Is(node, "Rescale");
}

// The quantized form of a value, or the value itself.
ValueId QuantizedForm(const Graph& graph, ValueId id) {
  if (graph.type(id).quantized()) return id;
  const Node* producer = graph.Producer(id);
  if (Is(producer, "Dequantize")) return producer->inputs[0];
  if (graph.IsInput(id)) {
    for (const ir::Use& use : graph.value(id).uses) {
      const Node& consumer = graph.node(use.node);
      if (Is(&consumer, "Quantize")) return consumer.result();
    }
  }
  return id;
}

}  // namespace

std::vector<Counterpart> FindCounterparts(const Graph& float_graph, const Graph& quantized) {
  std::vector<Counterpart> counterparts;
  const auto add = [&](ValueId id) {
    const ir::Type& type = float_graph.type(id);
    if (type.dtype != ir::DType::kF32) return;
    const ValueId found = quantized.Resolve(float_graph.name(id));
    if (!found || quantized.IsConstant(found)) return;
    const ValueId form = QuantizedForm(quantized, found);
    const ir::Type& actual = quantized.type(form);
    if (actual.shape != type.shape) return;
    if (!actual.quantized() && actual.dtype != ir::DType::kF32) return;
    counterparts.push_back({id, form});
  };
  for (const ValueId input : float_graph.inputs()) add(input);
  for (const ir::NodeId id : float_graph.nodes()) {
    for (const ValueId result : float_graph.node(id).results) add(result);
  }
  return counterparts;
}

ValueId BaselineOf(const Graph& float_graph, const Graph& quantized, ValueId id) {
  // Walk up a chain of representations to a value whose name exists in the float graph.
  for (ValueId at = id; at;) {
    if (const ValueId original = float_graph.Find(quantized.name(at))) return original;
    const Node* producer = quantized.Producer(at);
    at = ChangesRepresentation(producer) ? producer->inputs[0] : ValueId{};
  }
  for (const ir::Use& use : quantized.value(id).uses) {
    const Node& consumer = quantized.node(use.node);
    if (!ChangesRepresentation(&consumer)) continue;
    if (const ValueId original = float_graph.Find(quantized.name(consumer.result())))
      return original;
  }
  return {};
}

const Node* ComputingNode(const Graph& quantized, ValueId id) {
  const Node* producer = quantized.Producer(id);
  while (ChangesRepresentation(producer)) producer = quantized.Producer(producer->inputs[0]);
  return producer;
}

}  // namespace octavo::report
