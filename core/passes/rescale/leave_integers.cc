// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/leave_integers.h"

#include "core/passes/analysis/implicit_relu.h"
#include "core/passes/analysis/order.h"
#include "core/passes/rescale/absorb_rules.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

void Leave(Graph& graph, NodeId id, Context& context, bool& resort) {
  const Node& dequantize = graph.node(id);
  if (!IsOwn(&dequantize, "Dequantize")) return;
  const ValueId quantized = dequantize.inputs[0], real = dequantize.result();
  const Node* quantize = graph.Producer(quantized);
  if (!IsOwn(quantize, "Quantize") || graph.type(quantized).blocked()) return;
  const std::string name = dequantize.name;
  if (context.settings().limit == Effect::kExact) {
    context.Keep(name, fmt::format("{} has the effect {}, which exceeds the limit exact",
                                   absorb_rules::kCancelQuantizeDequantize.id,
                                   Name(absorb_rules::kCancelQuantizeDequantize.effect)));
    return;
  }
  if (std::string why = WhyReluStays(graph, context.settings().target, quantized,
                                     graph.type(quantized), graph.type(real));
      !why.empty()) {
    context.Keep(name, std::move(why));
    return;
  }
  Effect effect = absorb_rules::kCancelQuantizeDequantize.effect;
  if (std::string why = WhyOrderChanges(graph, real); !why.empty()) {
    effect = Effect::kNewParameters;
    if (!context.Allows(effect)) {
      context.Keep(name, std::move(why));
      return;
    }
  }
  const NodeId quantize_id = graph.value(quantized).producer;
  std::vector<std::string> values = {graph.name(real), graph.name(quantize->inputs[0])};
  if (!Replace(graph, real, quantize->inputs[0], resort)) {
    context.Keep(name, "its result is a graph output, and its operand cannot take over the name");
    return;
  }
  context.Applied(absorb_rules::kCancelQuantizeDequantize, effect, name, std::move(values));
  if (graph.CountUses(quantized) == 0) graph.Erase(quantize_id);
}

}  // namespace

Status LeaveIntegers(Graph& graph, Context& context) {
  bool resort = false;
  std::vector<NodeId> order;
  for (const NodeId id : graph.nodes()) order.push_back(id);
  for (const NodeId id : order) {
    if (!graph.node(id).erased) Leave(graph, id, context, resort);
  }
  return resort ? graph.Sort() : Status{};
}

}  // namespace octavo::passes
