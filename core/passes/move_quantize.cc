// Integers early, floats late: data movement runs on codes, which are a quarter of the bytes.
//
//   early   Quantize(move(x)) : t      ->  move(Quantize(x) : t)      exact
//   late    move(Dequantize(x))        ->  Dequantize(move(x))        exact
#include "core/ops/op_table.h"
#include "core/passes/passes.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr Rule kEarly = {"early", "Quantize(move(x)) : t -> move(Quantize(x) : t)", Effect::kExact,
                         "nobody else reads move(x); per-tensor t"};
constexpr Rule kLate = {"late", "move(Dequantize(x)) -> Dequantize(move(x))", Effect::kExact,
                        "nobody else reads the Dequantize; per-tensor x; not more elements; "
                        "what the op itself brings (Pad's value) has a code"};
constexpr Rule kRules[] = {kEarly, kLate};

bool Is(const Node* node, std::string_view op) {
  return node != nullptr && node->op->domain == "octavo" && node->op->name == op;
}

// An op of one data operand and one result that hands stored codes on unchanged.
bool Moves(const Graph& graph, const Node& node) {
  if (node.results.size() != 1 || node.op->rescale.at_input != ir::RescaleRule::AtInput::kSunk ||
      node.op->rescale.at_output != ir::RescaleRule::AtOutput::kRaised ||
      node.op->QuantOf(graph, node).kind != ir::QuantRule::Kind::kSameAsInput) {
    return false;
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && node.op->RoleOf(i) == ir::Role::kData) return false;
  }
  return true;
}

bool Early(Graph& graph, NodeId id, Context& context) {
  const Node& quantize = graph.node(id);
  if (!Is(&quantize, "Quantize") || !graph.type(quantize.result()).quant->per_tensor())
    return false;
  const ValueId moved = quantize.inputs[0];
  const Node* move = graph.Producer(moved);
  if (move == nullptr || !Moves(graph, *move) || graph.CountUses(moved) != 1) return false;
  const ValueId x = move->inputs[0];
  if (graph.IsConstant(x) || graph.type(x).elements() > graph.type(moved).elements()) return false;

  Type type = graph.type(quantize.result());
  type.shape = graph.type(x).shape;
  const NodeId move_id = graph.value(moved).producer;
  context.Applied(kEarly, move->name, {graph.name(moved), graph.name(quantize.result())});
  const NodeId early =
      graph.InsertBefore(move_id, {.op = quantize.op,
                                   .inputs = {x},
                                   .results = {{graph.UniqueName(graph.name(x) + ".q"), type}}});
  std::vector<ValueId> inputs = graph.node(move_id).inputs;
  inputs[0] = graph.node(early).result();
  graph.Redefine(id, graph.node(move_id).op, std::move(inputs), graph.node(move_id).attributes);
  graph.AddOrigin(id, graph.node(move_id).origin);
  graph.Erase(move_id);
  return true;
}

bool Late(Graph& graph, NodeId id, Context& context) {
  const Node& move = graph.node(id);
  if (!Moves(graph, move) || graph.type(move.result()).dtype != ir::DType::kF32) return false;
  const ValueId floats = move.inputs[0];
  const Node* dequantize = graph.Producer(floats);
  if (!Is(dequantize, "Dequantize") || graph.CountUses(floats) != 1) return false;
  const ValueId x = dequantize->inputs[0];
  const ValueId y = move.result();
  if (!graph.type(x).quant->per_tensor()) return false;
  if (graph.type(y).elements() > graph.type(floats).elements()) return false;
  if (move.op->rescale.why_not) {
    // A float that the op brings itself (what Pad pads with) must have a code.
    const std::string why = move.op->rescale.why_not(graph, move, graph.type(x), graph.type(x));
    if (!why.empty()) {
      context.Keep(move.name, why);
      return false;
    }
  }

  Type type = graph.type(x);
  type.shape = graph.type(y).shape;
  type.range.reset();
  const NodeId dequantize_id = graph.value(floats).producer;
  context.Applied(kLate, move.name, {graph.name(floats), graph.name(y)});
  const ir::OpDef* op = dequantize->op;
  graph.SetInput(id, 0, x);
  graph.Interpose(y, graph.UniqueName(graph.name(y) + ".q"), type, {.op = op});
  graph.Erase(dequantize_id);
  return true;
}

Status Run(Graph& graph, Context& context) {
  if (context.settings().sink_quantize) return {};
  // Late goes down the graph in one walk; early goes up, so its walk is from the end.
  for (const NodeId id : graph.nodes()) Late(graph, id, context);
  std::vector<NodeId> order;
  for (const NodeId id : graph.nodes()) order.push_back(id);
  for (size_t k = order.size(); k-- > 0;) {
    if (graph.node(order[k]).erased) continue;
    Early(graph, order[k], context);
  }
  // An early Quantize may have met another movement above it.
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeId id : graph.nodes()) changed |= Early(graph, id, context);
  }
  return {};
}

}  // namespace

const Pass kMoveQuantizePass = {
    .name = "move-quantize",
    .promise = "data movement between Quantize and Dequantize runs on codes",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
