// Integers early, floats late: data movement runs on codes, which are a quarter of the bytes.
//
//   early       Quantize(move(x, ..)) : t    ->  move(Quantize(x) : t, ..)    exact
//   late        move(Dequantize(x), ..)      ->  Dequantize(move(x, ..))      exact
//   raised      Dequantize(move(x))          ->  move(Dequantize(x))          exact
//               where the move repeats elements
//   clamp-late  Clamp(Dequantize(x))         ->  Dequantize(Clamp(x) : t(x))  exact
//   sunk        move(Quantize(x))            ->  Quantize(move(x))            exact
//               with --sink-quantize instead of `early`, on the way to a Dequantize
//   integer-input, integer-output      with --integer-io: integer_io.h
#include <algorithm>
#include <optional>
#include <vector>

#include "core/passes/clamp_codes.h"
#include "core/passes/integer_io.h"
#include "core/passes/moved_type.h"
#include "core/passes/passes.h"
#include "core/passes/quantize_plan.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr Rule kEarly = {"early", "Quantize(move(x, ..)) : t -> move(Quantize(x) : t, ..)",
                         Effect::kExact,
                         "nobody else reads move(x), and all results are read so; not more "
                         "elements; a per-channel t that an axis of x says as well"};
constexpr Rule kLate = {"late", "move(Dequantize(x), ..) -> Dequantize(move(x, ..))",
                        Effect::kExact,
                        "nobody else reads the Dequantizes, all of one type; a per-channel type "
                        "that passes through; not more elements; what the op itself brings (Pad's "
                        "value) has a code"};
constexpr Rule kRaised = {"raised", "Dequantize(move(x)) -> move(Dequantize(x))", Effect::kExact,
                          "nobody else reads move(x), which has at least twice the elements of x; "
                          "not on a target that is fully quantized"};
constexpr Rule kClampLate = {"clamp-late", "Clamp(Dequantize(x)) -> Dequantize(Clamp(x) : t(x))",
                             Effect::kExact,
                             "Relu or Clip; nobody else reads the Dequantize; what the clamp makes "
                             "of each code has a code, by enumeration; neither the target nor the "
                             "job keeps the op in float"};
constexpr Rule kSunk = {"sunk", "move(Quantize(x)) -> Quantize(move(x))", Effect::kExact,
                        "--sink-quantize; only movement lies between it and a Dequantize, and "
                        "nobody else reads; not more elements; x does not come from a graph input "
                        "of a target that is fully quantized"};
constexpr Rule kRules[] = {kEarly, kLate,         kRaised,       kClampLate,
                           kSunk,  kIntegerInput, kIntegerOutput};

int64_t ElementsRead(const Graph& graph, const Node& node) {
  int64_t elements = 0;
  for (const size_t i : DataInputs(node)) elements += graph.type(node.inputs[i]).elements();
  return elements;
}

int64_t ElementsGiven(const Graph& graph, const Node& node) {
  int64_t elements = 0;
  for (const ValueId result : node.results) elements += graph.type(result).elements();
  return elements;
}

// Whether each result has one reader, a Quantize of the same type as `quantize`.
bool AllQuantized(const Graph& graph, const Node& move, const Node& quantize) {
  const Type& type = graph.type(quantize.result());
  return std::ranges::all_of(move.results, [&](ValueId result) {
    if (graph.CountUses(result) != 1 || graph.value(result).uses.size() != 1) return false;
    const Node& reader = graph.node(graph.value(result).uses.front().node);
    if (!IsOwn(reader, "Quantize")) return false;
    const Type& other = graph.type(reader.result());
    return other.dtype == type.dtype && other.quant == type.quant;
  });
}

// Glow's Interpreter makes a zero of a window that holds no element, where floats have the least.
bool MakesZeros(const Graph& graph, const Node& move, const Type& type, const Context& context) {
  return context.settings().target.numerics == ir::Numerics::kGlowInterpreter &&
         move.op->rescale.why_not && !move.op->rescale.why_not(graph, move, type, type).empty();
}

// The move computes what the Quantizes of its results do.
void GiveCodes(Graph& graph, NodeId move) {
  const std::vector<ValueId> results = graph.node(move).results;
  const auto reader_of = [&](ValueId result) { return graph.value(result).uses.front().node; };
  if (results.size() == 1) {
    const NodeId quantize = reader_of(results.front());
    const Node& node = graph.node(move);
    graph.Redefine(quantize, node.op, node.inputs, node.attributes);
    graph.AddOrigin(quantize, graph.node(move).origin);
    graph.Erase(move);
    return;
  }
  for (const ValueId inner : results) graph.Absorb(inner, graph.node(reader_of(inner)).result());
}

bool Early(Graph& graph, NodeId id, Context& context) {
  const Node& quantize = graph.node(id);
  if (!IsOwn(&quantize, "Quantize")) return false;
  const ValueId moved = quantize.inputs[0];
  const Node* move = graph.Producer(moved);
  if (move == nullptr || !MovesAll(graph, *move) || !AllQuantized(graph, *move, quantize)) {
    return false;
  }
  const std::vector<size_t> operands = DataInputs(*move);
  const bool all_constant =
      std::ranges::all_of(operands, [&](size_t i) { return graph.IsConstant(move->inputs[i]); });
  if (all_constant || ElementsRead(graph, *move) > ElementsGiven(graph, *move)) return false;
  Type type = graph.type(quantize.result());
  if (MakesZeros(graph, *move, type, context)) return false;
  type.range.reset();
  const std::optional<ir::Quant> quant = QuantBefore(graph, *move, *type.quant);
  if (!quant) {
    context.Keep(quantize.name, fmt::format("no type of what {} '{}' reads says its channels",
                                            move->op->name, move->name));
    return false;
  }
  type.quant = quant;

  const NodeId move_id = graph.value(moved).producer;
  const ir::OpDef* op = quantize.op;
  context.Applied(kEarly, move->name, {graph.name(moved), graph.name(quantize.result())});
  for (const size_t i : operands) {
    const ValueId x = graph.node(move_id).inputs[i];
    type.shape = graph.type(x).shape;
    const std::string name = graph.UniqueName(graph.name(x) + ".q");
    const NodeId early =
        graph.InsertBefore(move_id, {.op = op, .inputs = {x}, .results = {{name, type}}});
    graph.SetInput(move_id, i, graph.node(early).result());
  }
  GiveCodes(graph, move_id);
  return true;
}

// The type of the codes under the Dequantizes that alone feed the operands, where it is one.
std::optional<Type> CodesUnder(const Graph& graph, const Node& node,
                               const std::vector<size_t>& operands) {
  std::optional<Type> common;
  for (const size_t i : operands) {
    const Node* dequantize = graph.Producer(node.inputs[i]);
    if (!IsOwn(dequantize, "Dequantize") || graph.CountUses(node.inputs[i]) != 1) {
      return std::nullopt;
    }
    const Type& type = graph.type(dequantize->inputs[0]);
    if (common && (common->dtype != type.dtype || common->quant != type.quant)) {
      return std::nullopt;
    }
    common = type;
  }
  return common;
}

// The node reads the codes of `type` and hands them on to a Dequantize below each result.
void DequantizeBelow(Graph& graph, NodeId id, const std::vector<size_t>& operands, Type type) {
  const ir::OpDef* op = nullptr;
  for (const size_t i : operands) {
    const NodeId dequantize = graph.value(graph.node(id).inputs[i]).producer;
    op = graph.node(dequantize).op;
    graph.SetInput(id, i, graph.node(dequantize).inputs[0]);
    graph.Erase(dequantize);
  }
  const ir::Quant from = *type.quant;
  for (size_t k = 0; k < graph.node(id).results.size(); ++k) {
    const ValueId y = graph.node(id).results[k];
    type.shape = graph.type(y).shape;
    type.quant = QuantAfter(graph, graph.node(id), from, k);
    graph.Interpose(y, graph.UniqueName(graph.name(y) + ".q"), type, {.op = op});
  }
}

bool Late(Graph& graph, NodeId id, Context& context) {
  const Node& move = graph.node(id);
  const auto is_real = [&](ValueId result) { return graph.type(result).dtype == ir::DType::kF32; };
  if (!MovesAll(graph, move) || !std::ranges::all_of(move.results, is_real)) return false;
  const std::vector<size_t> operands = DataInputs(move);
  std::optional<Type> type = CodesUnder(graph, move, operands);
  if (!type || ElementsGiven(graph, move) > ElementsRead(graph, move)) return false;
  if (!QuantAfter(graph, move, *type->quant)) {
    context.Keep(move.name, "its operand's channels do not pass through it");
    return false;
  }
  if (move.op->rescale.why_not) {
    // A float that the op brings itself (what Pad pads with) must have a code.
    const std::string why = move.op->rescale.why_not(graph, move, *type, *type);
    if (!why.empty()) {
      context.Keep(move.name, why);
      return false;
    }
  }
  context.Applied(kLate, move.name,
                  {graph.name(move.inputs[operands[0]]), graph.name(move.results[0])});
  type->range.reset();
  DequantizeBelow(graph, id, operands, *std::move(type));
  return true;
}

bool StaysFloat(const Graph& graph, const Settings& settings, const Node& node) {
  return settings.target.QuantOf(graph, node).kind == ir::QuantRule::Kind::kFloatOnly ||
         IsNamedBy(settings.keep_float, graph, node);
}

bool ClampLate(Graph& graph, NodeId id, Context& context) {
  const Node& clamp = graph.node(id);
  if (!clamp.op->clamps || graph.type(clamp.result()).dtype != ir::DType::kF32) return false;
  std::optional<Type> type = CodesUnder(graph, clamp, {0});
  if (!type || StaysFloat(graph, context.settings(), clamp)) return false;
  const ir::Numerics mode = context.settings().target.numerics;
  if (!ClampGivesCodes(graph, clamp, *type, mode)) return false;
  context.Applied(kClampLate, clamp.name,
                  {graph.name(clamp.inputs[0]), graph.name(clamp.result())});
  DequantizeBelow(graph, id, {0}, *std::move(type));
  return true;
}

// The way back, where the move repeats elements.
bool Raise(Graph& graph, NodeId id, Context& context) {
  const Node& dequantize = graph.node(id);
  if (!IsOwn(&dequantize, "Dequantize") || context.settings().target.fully_quantized) return false;
  const ValueId moved = dequantize.inputs[0];
  const Node* move = graph.Producer(moved);
  if (move == nullptr || !Moves(graph, *move) || graph.CountUses(moved) != 1) return false;
  const ValueId x = move->inputs[0];
  const Type& type = graph.type(x);
  if (graph.type(moved).elements() / 2 < type.elements()) return false;
  if (move->op->rescale.why_not && !move->op->rescale.why_not(graph, *move, type, type).empty()) {
    return false;
  }
  const NodeId move_id = graph.value(moved).producer;
  const ir::OpDef* op = dequantize.op;
  context.Applied(kRaised, move->name, {graph.name(moved), graph.name(dequantize.result())});
  const std::string name = graph.UniqueName(graph.name(x) + ".float");
  const Type real{ir::DType::kF32, type.shape, {}, {}};
  const NodeId raised =
      graph.InsertBefore(move_id, {.op = op, .inputs = {x}, .results = {{name, real}}});
  std::vector<ValueId> inputs = graph.node(move_id).inputs;
  inputs[0] = graph.node(raised).result();
  graph.Redefine(id, graph.node(move_id).op, std::move(inputs), graph.node(move_id).attributes);
  graph.AddOrigin(id, graph.node(move_id).origin);
  graph.Erase(move_id);
  return true;
}

// The one movement that reads the codes, if nobody else does.
NodeId SoleMove(const Graph& graph, ValueId codes) {
  if (graph.CountUses(codes) != 1 || graph.IsOutput(codes)) return {};
  const ir::Use use = graph.value(codes).uses.front();
  const Node& move = graph.node(use.node);
  const bool alone = MovesAll(graph, move) && DataInputs(move) == std::vector<size_t>{0};
  return use.input == 0 && alone ? use.node : NodeId{};
}

bool MeetsDequantize(const Graph& graph, ValueId codes) {
  if (const NodeId move = SoleMove(graph, codes)) {
    return std::ranges::all_of(graph.node(move).results,
                               [&](ValueId result) { return MeetsDequantize(graph, result); });
  }
  return std::ranges::any_of(graph.value(codes).uses, [&](const ir::Use& use) {
    return IsOwn(&graph.node(use.node), "Dequantize");
  });
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
  if (!move_id || graph.IsConstant(x)) return false;
  if (MakesZeros(graph, graph.node(move_id), graph.type(q), context)) return false;
  const std::vector<ValueId> results = graph.node(move_id).results;
  if (!MeetsDequantize(graph, q) ||
      ElementsGiven(graph, graph.node(move_id)) > graph.type(q).elements()) {
    return false;
  }
  if (context.settings().target.fully_quantized && ComesFromInput(graph, x)) {
    context.Keep(quantize.name, fmt::format("target {} is fully quantized, so what comes from a "
                                            "graph input is moved as codes",
                                            context.settings().target.name));
    return false;
  }
  const ir::OpDef* op = quantize.op;
  context.Applied(kSunk, graph.node(move_id).name, {graph.name(q), graph.name(results.front())});
  graph.SetInput(move_id, 0, x);
  for (const ValueId y : results) {
    const Type real{ir::DType::kF32, graph.type(y).shape, {}, {}};
    graph.Interpose(y, graph.UniqueName(graph.name(y) + ".float"), real, {.op = op});
  }
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
  for (const NodeId id : graph.nodes()) {
    if (!Late(graph, id, context)) ClampLate(graph, id, context);
  }
  for (const NodeId id : graph.nodes()) Raise(graph, id, context);
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
