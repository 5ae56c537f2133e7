// Integers early, floats late: data movement runs on codes, which are a quarter of the bytes.
//
//   early   Quantize(move(x)) : t      ->  move(Quantize(x) : t)      exact
//   late    move(Dequantize(x))        ->  Dequantize(move(x))        exact
//   sunk    move(Quantize(x))          ->  Quantize(move(x))          exact
//           with --sink-quantize instead of `early`, on the way to a Dequantize
//   integer-input, integer-output      with --integer-io: integer_io.h
#include <vector>

#include "core/ops/op_table.h"
#include "core/passes/integer_io.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

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
constexpr Rule kSunk = {"sunk", "move(Quantize(x)) -> Quantize(move(x))", Effect::kExact,
                        "--sink-quantize; only movement lies between it and a Dequantize, and "
                        "nobody else reads; per-tensor; not more elements; x does not come from a "
                        "graph input of a target that is fully quantized"};
constexpr Rule kRules[] = {kEarly, kLate, kSunk, kIntegerInput, kIntegerOutput};

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
  if (!IsOwn(&quantize, "Quantize") || !graph.type(quantize.result()).quant->per_tensor())
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
  if (!IsOwn(dequantize, "Dequantize") || graph.CountUses(floats) != 1) return false;
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

// The one movement that reads the codes, if nobody else does.
NodeId SoleMove(const Graph& graph, ValueId codes) {
  if (graph.CountUses(codes) != 1 || graph.IsOutput(codes)) return {};
  const ir::Use use = graph.value(codes).uses.front();
  return use.input == 0 && Moves(graph, graph.node(use.node)) ? use.node : NodeId{};
}

bool MeetsDequantize(const Graph& graph, ValueId codes) {
  for (NodeId move = SoleMove(graph, codes); move; move = SoleMove(graph, codes)) {
    codes = graph.node(move).result();
  }
  for (const ir::Use& use : graph.value(codes).uses) {
    if (IsOwn(&graph.node(use.node), "Dequantize")) return true;
  }
  return false;
}

bool ComesFromInput(const Graph& graph, ValueId x) {
  for (const Node* move = graph.Producer(x); move != nullptr && Moves(graph, *move);
       move = graph.Producer(x)) {
    x = move->inputs[0];
  }
  return graph.IsInput(x);
}

bool Sink(Graph& graph, NodeId id, Context& context) {
  const Node& quantize = graph.node(id);
  if (!IsOwn(&quantize, "Quantize")) return false;
  const ValueId q = quantize.result(), x = quantize.inputs[0];
  const NodeId move_id = SoleMove(graph, q);
  if (!move_id || !graph.type(q).quant->per_tensor() || graph.IsConstant(x)) return false;
  const ValueId y = graph.node(move_id).result();
  if (!MeetsDequantize(graph, q) || graph.type(y).elements() > graph.type(q).elements()) {
    return false;
  }
  if (context.settings().target.fully_quantized && ComesFromInput(graph, x)) {
    context.Keep(quantize.name, fmt::format("target {} is fully quantized, so what comes from a "
                                            "graph input is moved as codes",
                                            context.settings().target.name));
    return false;
  }
  const Type real{ir::DType::kF32, graph.type(y).shape, {}, {}};
  const ir::OpDef* op = quantize.op;
  context.Applied(kSunk, graph.node(move_id).name, {graph.name(q), graph.name(y)});
  graph.SetInput(move_id, 0, x);
  graph.Interpose(y, graph.UniqueName(graph.name(y) + ".float"), real, {.op = op});
  graph.Erase(id);
  return true;
}

// Early goes up, so its walk is from the end.
void RaiseQuantizes(Graph& graph, Context& context) {
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
}

void RunOnce(Graph& graph, Context& context) {
  const Settings& settings = context.settings();
  // Late goes down the graph in one walk, as sinking does.
  for (const NodeId id : graph.nodes()) Late(graph, id, context);
  if (!settings.sink_quantize) RaiseQuantizes(graph, context);
  if (settings.integer_io) MakeInterfaceInteger(graph, context);
  if (!settings.sink_quantize) return;
  for (const NodeId id : graph.nodes()) Sink(graph, id, context);
}

Status Run(Graph& graph, Context& context) {
  // An interface of codes, or a Quantize that sank, may leave a Dequantize one reader.  What the
  // last walk says of the others stands.
  Findings& findings = context.findings();
  const size_t kept = findings.kept.size();
  for (int64_t before = -1; before != context.applications();) {
    before = context.applications();
    findings.kept.resize(kept);
    std::erase_if(findings.warnings,
                  [](const Warning& warning) { return warning.code == kFloatInterface; });
    RunOnce(graph, context);
    OCTAVO_CHECK(context.settings().stop.Check());
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
