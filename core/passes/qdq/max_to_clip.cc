// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/max_to_clip.h"

#include <algorithm>
#include <vector>

#include "core/ops/op_table.h"
#include "core/passes/qdq/qdq_rules.h"

namespace octavo::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

struct Extreme {
  const ir::OpDef* op = nullptr;
  size_t bound = 0;  // the input of Clip for the constant operand
};

bool IsScalar(const ir::Graph& graph, ValueId value) {
  return graph.IsConstant(value) && graph.type(value).dtype == ir::DType::kF32 &&
         graph.type(value).elements() == 1;
}

// If the node clamps an operand at a scalar constant: that operand, and the constant in `bound`;
// else invalid.
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
  const std::vector<NodeId> consumers = graph.Consumers(value);
  for (const NodeId consumer : consumers) {
    if (graph.node(consumer).op != quantize) return false;
  }
  return !consumers.empty() && !graph.IsOutput(value);
}

bool OnlyClamped(const ir::Graph& graph, ValueId value) {
  const std::vector<NodeId> consumers = graph.Consumers(value);
  return consumers.size() == 1 && !graph.IsOutput(value) && graph.node(consumers[0]).op->clamps &&
         graph.node(consumers[0]).input(0) == value;
}

// Clip requires bounds of rank 0.
ValueId AsBound(ir::Graph& graph, ValueId constant) {
  if (graph.type(constant).shape.empty()) return constant;
  return graph.AddConstant(graph.UniqueName(graph.name(constant) + ".bound"),
                           graph.value(constant).constant->tensor.Reshaped({}));
}

}  // namespace

void MaxToClip(ir::Graph& graph, const std::set<std::string>& kept_float, Context& context) {
  const ir::OpDef* quantize = ops::FindOp("Quantize", "octavo");
  const Extreme extremes[] = {{ops::FindOp("Max"), 1}, {ops::FindOp("Min"), 2}};
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.nodes()) nodes.push_back(id);
  // In reverse order: when the loop reaches the inner node of a pair, the outer one is already a
  // clamp.
  std::reverse(nodes.begin(), nodes.end());
  for (const NodeId id : nodes) {
    const ir::Node& node = graph.node(id);
    for (const Extreme& extreme : extremes) {
      if (node.op != extreme.op || kept_float.contains(node.name)) continue;
      ValueId bound;
      const ValueId x = Clamped(graph, node, bound);
      const ValueId result = node.result();
      if (!x || !(OnlyQuantized(graph, result, quantize) || OnlyClamped(graph, result))) break;
      std::vector<ValueId> inputs(extreme.bound + 1);
      inputs[0] = x;
      inputs[extreme.bound] = AsBound(graph, bound);
      context.Applied(kMaxToClip, node.name, {graph.name(result)});
      graph.Redefine(id, ops::FindOp("Clip"), std::move(inputs), {});
      break;
    }
  }
}

}  // namespace octavo::passes
