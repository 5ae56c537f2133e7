#include "core/passes/leave_integers.h"

#include "core/passes/relu_in_type.h"
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
  const ValueId codes = dequantize.inputs[0], real = dequantize.result();
  const Node* quantize = graph.Producer(codes);
  if (!IsOwn(quantize, "Quantize")) return;
  const std::string name = dequantize.name;
  if (context.settings().limit == Effect::kExact) {
    context.Keep(name, fmt::format("leaving the integers has the effect {}, past the limit exact",
                                   Name(kLeftIntegers.effect)));
    return;
  }
  if (std::string why = WhyReluStays(graph, context.settings().target, codes, graph.type(codes),
                                     graph.type(real));
      !why.empty()) {
    context.Keep(name, std::move(why));
    return;
  }
  const NodeId quantize_id = graph.value(codes).producer;
  std::vector<std::string> values = {graph.name(real), graph.name(quantize->inputs[0])};
  if (!Replace(graph, real, quantize->inputs[0], resort)) {
    context.Keep(name, "it gives an output of the graph its name");
    return;
  }
  context.Applied(kLeftIntegers, name, std::move(values));
  if (graph.CountUses(codes) == 0) graph.Erase(quantize_id);
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
