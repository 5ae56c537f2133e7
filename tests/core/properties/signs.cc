// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/signs.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/passes/analysis/implicit_relu.h"

namespace octavo::test {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;
using passes::Side;

bool HasNone(const target::Target& target, const Graph& graph, ValueId id, Side side) {
  const ir::Type& type = graph.type(id);
  const Node* producer = graph.Producer(id);
  const ValueId quantized =
      producer && producer->op->name == "Dequantize" ? producer->inputs[0] : id;
  if (graph.type(quantized).quantized() && passes::EndsAtZero(graph.type(quantized), side)) {
    return std::ranges::all_of(graph.type(quantized).quant->zero_points, [&](int32_t zero) {
      return zero == graph.type(quantized).quant->zero_points[0];
    });
  }
  return type.Expressed().dtype == ir::DType::kF32 && passes::ProducesNone(graph, target, id, side);
}

bool IsPast(const RunValues& run, ValueId id, Side side) {
  return std::ranges::any_of(run.real_values(id),
                             [&](double x) { return side == Side::kBelowZero ? x < 0 : x > 0; });
}

// Whether the sign property applies to the node's operands.  A same-scale op may end up above or
// below the Rescale; a clamp or a choice may take over the work of the Rescale.
bool IsTold(const target::Target& target, const Graph& graph, const Node& node) {
  return node.op->domain != "octavo" && !node.op->clamps && node.op->name != "Max" &&
         node.op->name != "Min" &&
         target.QuantOf(graph, node).kind != ir::QuantRule::Kind::kSameScale;
}

// A constant may have become the second operand.
ValueId OperandNow(const Graph& before, ValueId was, const Graph& after, const Node& is, size_t i) {
  const auto same = std::ranges::find(is.inputs, after.Resolve(before.name(was)));
  return same == is.inputs.end() ? is.inputs[i] : *same;
}

Status CheckReads(const target::Target& target, const Graph& before, const Node& was,
                  const Graph& after, const Node& is, const RunValues& run) {
  for (size_t i = 0; i < was.inputs.size(); ++i) {
    if (!was.inputs[i] || was.op->RoleOf(i) != ir::Role::kData) continue;
    for (const Side side : {Side::kBelowZero, Side::kAboveZero}) {
      if (!HasNone(target, before, was.inputs[i], side)) continue;
      if (!IsPast(run, OperandNow(before, was.inputs[i], after, is, i), side)) continue;
      return Fail(Code::kInternal, "'{}' reads values {} zero in '{}', which '{}' had none of",
                  is.name, side == Side::kBelowZero ? "below" : "above", after.name(is.inputs[i]),
                  before.name(was.inputs[i]));
    }
  }
  return {};
}

}  // namespace

Status CheckSigns(const target::Target& target, const Graph& before, const Graph& after,
                  const RunValues& is) {
  std::map<std::string_view, NodeId> nodes;
  for (const NodeId id : after.nodes()) nodes.emplace(after.node(id).name, id);
  for (const NodeId id : before.nodes()) {
    const Node& was = before.node(id);
    const auto at = nodes.find(was.name);
    if (at == nodes.end() || !IsTold(target, before, was)) continue;
    const Node& now = after.node(at->second);
    if (now.op != was.op || now.inputs.size() != was.inputs.size()) continue;
    OCTAVO_CHECK(CheckReads(target, before, was, after, now, is));
  }
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    for (const Side side : {Side::kBelowZero, Side::kAboveZero}) {
      if (!HasNone(target, before, before.outputs()[i], side)) continue;
      if (!IsPast(is, after.outputs()[i], side)) continue;
      return Fail(Code::kInternal, "output '{}' has values {} zero, which it had none of",
                  before.name(before.outputs()[i]), side == Side::kBelowZero ? "below" : "above");
    }
  }
  return {};
}

}  // namespace octavo::test
