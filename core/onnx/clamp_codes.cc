#include "core/onnx/clamp_codes.h"

#include <algorithm>
#include <vector>

#include "core/ops/op_table.h"

namespace octavo::onnx {
namespace {

using ir::NodeId;
using ir::ValueId;

// An extreme of two values, and where its constant bound stands among Clip's operands.
struct Form {
  const ir::OpDef* op = nullptr;
  size_t bound = 0;
};

bool IsScalar(const ir::Graph& graph, ValueId value) {
  return graph.IsConstant(value) && graph.type(value).dtype == ir::DType::kF32 &&
         graph.type(value).elements() == 1;
}

// The operand that the node clamps at a scalar; none if it does anything else.
ValueId Clamped(const ir::Graph& graph, const ir::Node& node, ValueId& bound) {
  if (node.inputs.size() != 2) return {};
  for (size_t i = 0; i < 2; ++i) {
    const ValueId x = node.input(i), c = node.input(1 - i);
    if (!IsScalar(graph, c) || graph.IsConstant(x)) continue;
    if (graph.type(x).shape != graph.type(node.result()).shape) continue;
    bound = c;
    return x;
  }
  return {};
}

bool OnlyQuantized(const ir::Graph& graph, ValueId value, const ir::OpDef* quantize) {
  const std::vector<NodeId> readers = graph.Readers(value);
  for (const NodeId reader : readers) {
    if (graph.node(reader).op != quantize) return false;
  }
  return !readers.empty() && !graph.IsOutput(value);
}

bool OnlyClamped(const ir::Graph& graph, ValueId value) {
  const std::vector<NodeId> readers = graph.Readers(value);
  return readers.size() == 1 && !graph.IsOutput(value) && graph.node(readers[0]).op->clamps &&
         graph.node(readers[0]).input(0) == value;
}

// A bound as Clip has it, without an axis.
ValueId AsBound(ir::Graph& graph, ValueId constant) {
  if (graph.type(constant).shape.empty()) return constant;
  return graph.AddConstant(graph.UniqueName(graph.name(constant) + ".bound"),
                           graph.value(constant).constant->tensor.Reshaped({}));
}

}  // namespace

void ClampCodes(ir::Graph& graph) {
  const ir::OpDef* quantize = ops::FindOp("Quantize", "octavo");
  const Form forms[] = {{ops::FindOp("Max"), 1}, {ops::FindOp("Min"), 2}};
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.nodes()) nodes.push_back(id);
  // The outer one of a pair comes first.
  std::reverse(nodes.begin(), nodes.end());
  for (const NodeId id : nodes) {
    const ir::Node& node = graph.node(id);
    for (const Form& form : forms) {
      if (node.op != form.op) continue;
      ValueId bound;
      const ValueId x = Clamped(graph, node, bound);
      const ValueId result = node.result();
      if (!x || !(OnlyQuantized(graph, result, quantize) || OnlyClamped(graph, result))) break;
      std::vector<ValueId> inputs(form.bound + 1);
      inputs[0] = x;
      inputs[form.bound] = AsBound(graph, bound);
      graph.Redefine(id, ops::FindOp("Clip"), std::move(inputs), {});
      break;
    }
  }
}

}  // namespace octavo::onnx
