// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/hoist_dequantize.h"

#include <algorithm>
#include <vector>

#include "core/passes/analysis/data_movement.h"
#include "core/passes/analysis/order.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::Use;
using ir::ValueId;

// Whether consumers of the dequantized value say that the movement before it stays as it is.
bool StaysBelow(const Graph& graph, ValueId real) {
  const std::vector<Use>& uses = graph.value(real).uses;
  // In ONNX form, an op that compares stored integers reads them through a DequantizeLinear, too;
  // the graph that was written must be read again.
  const auto compares = [&](const Use& use) {
    return ReadsOnlyOrder(graph.node(use.node), use.input);
  };
  if (std::ranges::any_of(uses, compares)) return true;
  // A Rescale whose types ONNX form cannot combine.
  return !graph.IsOutput(real) && std::ranges::all_of(uses, [&](const Use& use) {
    return IsOwn(&graph.node(use.node), "Quantize");
  });
}

// Dequantize(x), right behind x, so that a movement of x anywhere may read it.
ValueId DequantizedBehind(Graph& graph, ValueId x, const ir::OpDef* dequantize) {
  Graph::Definition definition{.op = dequantize,
                               .inputs = {x},
                               .results = {{graph.UniqueName(graph.name(x) + ".float"),
                                            {ir::DType::kF32, graph.type(x).shape, {}, {}}}}};
  const NodeId producer = graph.value(x).producer;
  const NodeId made = producer ? graph.InsertAfter(producer, std::move(definition))
                               : graph.InsertBefore(graph.first(), std::move(definition));
  return graph.node(made).result();
}

}  // namespace

bool HoistDequantize(Graph& graph, NodeId id, HoistedValues& hoisted, Context& context) {
  const Node& dequantize = graph.node(id);
  if (!IsOwn(&dequantize, "Dequantize") || context.settings().target.fully_quantized) return false;
  const ValueId moved = dequantize.inputs[0];
  const Node* move = graph.Producer(moved);
  if (move == nullptr || !Moves(graph, *move) || graph.CountUses(moved) != 1) return false;
  const ValueId x = move->inputs[0];
  const Type& type = graph.type(x);
  if (graph.type(moved).elements() / 2 < type.elements()) return false;
  if (StaysBelow(graph, dequantize.result())) return false;
  if (move->op->rescale.why_not && !move->op->rescale.why_not(graph, *move, type, type).empty()) {
    return false;
  }
  const NodeId move_id = graph.value(moved).producer;
  const ir::OpDef* op = dequantize.op;
  context.Applied(kHoistDequantize, move->name,
                  {graph.name(moved), graph.name(dequantize.result())});
  ValueId& real = hoisted[x];
  if (!real) real = DequantizedBehind(graph, x, op);
  std::vector<ValueId> inputs = graph.node(move_id).inputs;
  inputs[0] = real;
  graph.Redefine(id, graph.node(move_id).op, std::move(inputs), graph.node(move_id).attributes);
  graph.AddOrigin(id, graph.node(move_id).origin);
  graph.Erase(move_id);
  return true;
}

}  // namespace octavo::passes
