// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rewrite.h"

#include <cassert>

#include "core/ops/op_table.h"

namespace octavo::passes {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

const ir::OpDef* Op(std::string_view name) {
  const ir::OpDef* op = ops::FindOp(name);
  assert(op != nullptr);
  return op;
}

bool Replace(Graph& graph, ValueId from, ValueId to, bool& resort) {
  const NodeId old = graph.value(from).producer;
  const std::vector<ValueId>& results = graph.node(old).results;
  for (const ValueId result : results) {
    if (result != from && graph.CountUses(result) > 0) return false;
  }
  if (!graph.IsOutput(from)) {
    if (const NodeId producer = graph.value(to).producer) {
      graph.AddOrigin(producer, graph.node(old).origin);
    }
    graph.Forward(from, to);
    graph.Erase(old);
    return true;
  }
  const NodeId producer = graph.value(to).producer;
  if (!producer || graph.IsOutput(to) || results.size() != 1 ||
      graph.node(producer).results.size() != 1) {
    return false;
  }
  const ir::Type type = graph.type(to);
  std::vector<std::string> origin = graph.node(producer).origin;
  graph.Redefine(old, graph.node(producer).op, graph.node(producer).inputs,
                 graph.node(producer).attributes);
  graph.AddOrigin(old, origin);
  graph.SetType(from, type);
  graph.Forward(to, from);
  graph.Erase(producer);
  resort = true;
  return true;
}

void Recompute(Graph& graph, NodeId id, std::string_view op, std::vector<ValueId> inputs,
               ir::AttrMap attributes, const std::vector<const Node*>& absorbed) {
  for (const Node* node : absorbed) {
    const std::vector<std::string> origin = node->origin;
    graph.AddOrigin(id, origin);
  }
  graph.Redefine(id, Op(op), std::move(inputs), std::move(attributes));
}

ValueId ChangeConstant(Graph& graph, ValueId value, ir::Tensor tensor) {
  assert(graph.IsConstant(value));
  if (graph.CountUses(value) > 1) {
    return AddConstant(graph, graph.name(value) + ".folded", std::move(tensor));
  }
  ir::Type type{tensor.dtype(), tensor.shape(), {}, {}};
  graph.SetPayload(value, ir::MakePayload(std::move(tensor)), std::move(type));
  return value;
}

}  // namespace octavo::passes
