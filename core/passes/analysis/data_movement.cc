// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/data_movement.h"

#include "core/ir/map_quant.h"

namespace octavo::passes {

using ir::Graph;
using ir::Node;

std::vector<size_t> DataInputs(const Node& node) {
  std::vector<size_t> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && node.op->RoleOf(i) == ir::Role::kData) inputs.push_back(i);
  }
  return inputs;
}

bool MovesAll(const Graph& graph, const Node& node) {
  return node.op->rescale.at_input == ir::RescaleRule::AtInput::kSink &&
         node.op->rescale.at_output == ir::RescaleRule::AtOutput::kHoist &&
         node.op->QuantOf(graph, node).kind == ir::QuantRule::Kind::kSameScale;
}

bool Moves(const Graph& graph, const Node& node) {
  return node.results.size() == 1 && MovesAll(graph, node) &&
         DataInputs(node) == std::vector<size_t>{0};
}

std::optional<ir::Quant> QuantAfter(const Graph& graph, const Node& move, const ir::Quant& from,
                                    size_t result) {
  return ir::MapQuant(graph, move, 0, result, from);
}

// For per-channel parameters, tries each axis of the operand with the right extent; the op's own
// axis rule confirms the match.
std::optional<ir::Quant> QuantBefore(const Graph& graph, const Node& move, const ir::Quant& to) {
  if (to.per_tensor()) return to;
  const ir::Shape& shape = graph.type(move.inputs[0]).shape;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != static_cast<int64_t>(to.scales.size())) continue;
    ir::Quant from = to;
    from.axis = static_cast<int>(axis);
    if (QuantAfter(graph, move, from) == to) return from;
  }
  return std::nullopt;
}

}  // namespace octavo::passes
