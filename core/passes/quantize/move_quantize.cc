// SPDX-License-Identifier: Apache-2.0
// Hoists Quantize and sinks Dequantize past data movement, which then moves a quarter of the bytes.
// In the rules, Move is an op that only moves elements, with equal quantization parameters on
// operands and results (OpDef::rescale: kSink and kHoist).  --sink-quantize replaces hoist-quantize
// by sink-quantize.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ir/qdq_notes.h"
#include "core/passes/analysis/clamp.h"
#include "core/passes/analysis/data_movement.h"
#include "core/passes/passes.h"
#include "core/passes/qdq/form_integers.h"
#include "core/passes/qdq/name_list.h"
#include "core/passes/quantize/float_choice.h"
#include "core/passes/quantize/hoist_dequantize.h"
#include "core/passes/quantize/integer_io.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

constexpr Rule kHoistQuantize = {
    .id = "move-quantize/hoist-quantize",
    .pattern = "Quantize(Move(x, ..)) : t",
    .replacement = "Move(Quantize(x) : t, ..)",
    .effect = Effect::kExact,
    .condition =
        "the only consumer of every result of Move is a Quantize to t; the operands have no more "
        "elements than the results; a per-channel t maps to an axis of x; neither the target nor "
        "the job keeps Move in float",
};
constexpr Rule kSinkDequantize = {
    .id = "move-quantize/sink-dequantize",
    .pattern = "Move(Dequantize(x), ..)",
    .replacement = "Dequantize(Move(x, ..))",
    .effect = Effect::kExact,
    .condition =
        "every Dequantize has one consumer, and all have one type; a per-channel type maps through "
        "Move; the results have no more elements than the operands; the type can represent what "
        "Move adds (Pad's value); neither the target nor the job keeps Move in float",
};
constexpr Rule kSinkDequantizeBelowClamp = {
    .id = "move-quantize/sink-dequantize-below-clamp",
    .pattern = "Clamp(Dequantize(x))",
    .replacement = "Dequantize(Clamp(x) : t(x))",
    .effect = Effect::kExact,
    .condition =
        "Clamp is Relu or Clip; the Dequantize has one consumer; t(x) can represent every clamped "
        "value, by enumeration; neither the target nor the job keeps the op in float",
};
constexpr Rule kSinkQuantize = {
    .id = "move-quantize/sink-quantize",
    .pattern = "Move(Quantize(x))",
    .replacement = "Quantize(Move(x))",
    .effect = Effect::kExact,
    .condition =
        "--sink-quantize; only data movement with single consumers separates it from a Dequantize; "
        "the results have no more elements than x; x does not come from a graph input of a fully "
        "quantized target",
};
constexpr Rule kRules[] = {
    kHoistQuantize, kSinkDequantize, kHoistDequantize, kSinkDequantizeBelowClamp,
    kSinkQuantize,  kIntegerInput,   kIntegerOutput};

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

// Whether each result has one consumer, a Quantize to the same type as `quantize`.
bool AllQuantized(const Graph& graph, const Node& move, const Node& quantize) {
  const Type& type = graph.type(quantize.result());
  return std::ranges::all_of(move.results, [&](ValueId result) {
    if (graph.CountUses(result) != 1 || graph.value(result).uses.size() != 1) return false;
    const Node& consumer = graph.node(graph.value(result).uses.front().node);
    if (!IsOwn(consumer, "Quantize")) return false;
    return graph.type(consumer.result()).SameQuantization(type);
  });
}

// Some modes yield zero for a window entirely in padding, where the float op yields the lowest
// float.
bool MakesZeros(const Graph& graph, const Node& move, const Type& type, const Context& context) {
  return context.settings().target.numerics->empty_pool_window_is_zero &&
         move.op->rescale.why_not && !move.op->rescale.why_not(graph, move, type, type).empty();
}

// Makes the move compute the results of the Quantizes that consume its results.
void QuantizeResults(Graph& graph, NodeId move) {
  const std::vector<ValueId> results = graph.node(move).results;
  const auto consumer_of = [&](ValueId result) { return graph.value(result).uses.front().node; };
  if (results.size() == 1) {
    const NodeId quantize = consumer_of(results.front());
    const Node& node = graph.node(move);
    graph.Redefine(quantize, node.op, node.inputs, node.attributes);
    graph.AddOrigin(quantize, graph.node(move).origin);
    graph.Erase(move);
    return;
  }
  for (const ValueId inner : results) graph.Absorb(inner, graph.node(consumer_of(inner)).result());
}

bool HoistQuantize(Graph& graph, NodeId id, const FloatChoice& choice, Context& context) {
  const Node& quantize = graph.node(id);
  if (!IsOwn(&quantize, "Quantize")) return false;
  const ValueId moved = quantize.inputs[0];
  const Node* move = graph.Producer(moved);
  if (move == nullptr || !MovesAll(graph, *move) || !AllQuantized(graph, *move, quantize)) {
    return false;
  }
  if (std::string why = choice.WhyFloat(graph, *move); !why.empty()) {
    context.Keep(quantize.name, fmt::format("'{}': {}", move->name, why));
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
    context.Keep(quantize.name,
                 fmt::format("its per-channel parameters cannot be expressed before {} '{}'",
                             move->op->name, move->name));
    return false;
  }
  type.quant = quant;

  const NodeId move_id = graph.value(moved).producer;
  const ir::OpDef* op = quantize.op;
  context.Applied(kHoistQuantize, move->name, {graph.name(moved), graph.name(quantize.result())});
  for (const size_t i : operands) {
    const ValueId x = graph.node(move_id).inputs[i];
    type.shape = graph.type(x).shape;
    const std::string name = graph.UniqueName(graph.name(x) + ".q");
    const NodeId hoisted =
        graph.InsertBefore(move_id, {.op = op, .inputs = {x}, .results = {{name, type}}});
    graph.SetInput(move_id, i, graph.node(hoisted).result());
  }
  QuantizeResults(graph, move_id);
  return true;
}

// The common operand type of the Dequantizes that produce the operands; nullopt if types differ or
// a Dequantize has other consumers.
std::optional<Type> CommonQuantizedType(const Graph& graph, const Node& node,
                                        const std::vector<size_t>& operands) {
  std::optional<Type> common;
  for (const size_t i : operands) {
    const Node* dequantize = graph.Producer(node.inputs[i]);
    if (!IsOwn(dequantize, "Dequantize") || graph.CountUses(node.inputs[i]) != 1) {
      return std::nullopt;
    }
    const Type& type = graph.type(dequantize->inputs[0]);
    if (type.blocked()) return std::nullopt;
    if (common && !common->SameQuantization(type)) return std::nullopt;
    common = type;
  }
  return common;
}

// Connects the node to the quantized operands of `type` and inserts a Dequantize after each result.
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

bool SinkDequantize(Graph& graph, NodeId id, const FloatChoice& choice, Context& context) {
  const Node& move = graph.node(id);
  const auto is_real = [&](ValueId result) { return graph.type(result).dtype == ir::DType::kF32; };
  if (!MovesAll(graph, move) || !std::ranges::all_of(move.results, is_real)) return false;
  const std::vector<size_t> operands = DataInputs(move);
  std::optional<Type> type = CommonQuantizedType(graph, move, operands);
  if (!type || ElementsGiven(graph, move) > ElementsRead(graph, move)) return false;
  if (std::string why = choice.WhyFloat(graph, move); !why.empty()) {
    context.Keep(move.name, std::move(why));
    return false;
  }
  if (!QuantAfter(graph, move, *type->quant)) {
    context.Keep(move.name,
                 "its operand's per-channel parameters cannot be expressed on its result");
    return false;
  }
  if (move.op->rescale.why_not) {
    // A float that the op adds itself (Pad's value) must be exactly representable as a quantized
    // value.
    const std::string why = move.op->rescale.why_not(graph, move, *type, *type);
    if (!why.empty()) {
      context.Keep(move.name, why);
      return false;
    }
  }
  context.Applied(kSinkDequantize, move.name,
                  {graph.name(move.inputs[operands[0]]), graph.name(move.results[0])});
  type->range.reset();
  DequantizeBelow(graph, id, operands, *std::move(type));
  return true;
}

bool SinkBelowClamp(Graph& graph, NodeId id, const FloatChoice& choice, Context& context) {
  const Node& clamp = graph.node(id);
  if (!clamp.op->clamps || graph.type(clamp.result()).dtype != ir::DType::kF32) return false;
  std::optional<Type> type = CommonQuantizedType(graph, clamp, {0});
  const target::Target& target = context.settings().target;
  if (!type || choice.StaysFloat(graph, clamp) ||
      target.QuantOf(graph, clamp).kind == ir::QuantRule::Kind::kFloatOnly) {
    return false;
  }
  const numerics::Mode& mode = *target.numerics;
  if (!ClampIsRepresentable(graph, clamp, *type, mode)) return false;
  context.Applied(kSinkDequantizeBelowClamp, clamp.name,
                  {graph.name(clamp.inputs[0]), graph.name(clamp.result())});
  DequantizeBelow(graph, id, {0}, *std::move(type));
  return true;
}

// The data movement that is the only consumer of the quantized value.
NodeId SoleMove(const Graph& graph, ValueId quantized) {
  if (graph.CountUses(quantized) != 1 || graph.IsOutput(quantized)) return {};
  const ir::Use use = graph.value(quantized).uses.front();
  const Node& move = graph.node(use.node);
  const bool alone = MovesAll(graph, move) && DataInputs(move) == std::vector<size_t>{0};
  return use.input == 0 && alone ? use.node : NodeId{};
}

bool MeetsDequantize(const Graph& graph, ValueId quantized) {
  if (const NodeId move = SoleMove(graph, quantized)) {
    return std::ranges::all_of(graph.node(move).results,
                               [&](ValueId result) { return MeetsDequantize(graph, result); });
  }
  return std::ranges::any_of(graph.value(quantized).uses, [&](const ir::Use& use) {
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

bool SinkQuantize(Graph& graph, NodeId id, Context& context) {
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
    context.Keep(quantize.name, fmt::format("target {} is fully quantized, so data from a graph "
                                            "input must be quantized before it moves",
                                            context.settings().target.name));
    return false;
  }
  const ir::OpDef* op = quantize.op;
  context.Applied(kSinkQuantize, graph.node(move_id).name,
                  {graph.name(q), graph.name(results.front())});
  graph.SetInput(move_id, 0, x);
  for (const ValueId y : results) {
    const Type real{ir::DType::kF32, graph.type(y).shape, {}, {}};
    graph.Interpose(y, graph.UniqueName(graph.name(y) + ".float"), real, {.op = op});
  }
  graph.Erase(id);
  return true;
}

// Hoisting moves a Quantize towards the inputs, so this walk starts at the end.
void HoistQuantizes(Graph& graph, const FloatChoice& choice, Context& context) {
  std::vector<NodeId> order;
  for (const NodeId id : graph.nodes()) order.push_back(id);
  for (size_t k = order.size(); k-- > 0;) {
    if (graph.node(order[k]).erased) continue;
    HoistQuantize(graph, order[k], choice, context);
  }
  // A hoisted Quantize may now be adjacent to another data movement before it.
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeId id : graph.nodes()) changed |= HoistQuantize(graph, id, choice, context);
  }
}

void RunOnce(Graph& graph, const std::set<std::string>& kept_float, const FloatChoice& choice,
             Context& context) {
  const Settings& settings = context.settings();
  // Sinking moves a Dequantize towards the outputs, so one walk in graph order is enough.
  for (const NodeId id : graph.nodes()) {
    if (!SinkDequantize(graph, id, choice, context)) SinkBelowClamp(graph, id, choice, context);
  }
  HoistedValues hoisted;
  for (const NodeId id : graph.nodes()) HoistDequantize(graph, id, hoisted, context);
  if (!settings.options.sink_quantize) HoistQuantizes(graph, choice, context);
  FormIntegers(graph, kept_float, choice, context);
  if (settings.options.integer_io) MakeInterfaceInteger(graph, context);
  if (!settings.options.sink_quantize) return;
  for (const NodeId id : graph.nodes()) SinkQuantize(graph, id, context);
}

Status Run(Graph& graph, Context& context) {
  // A quantized input or output, or a sunk Quantize, may leave a Dequantize with a single consumer;
  // this enables another round.  For all other nodes, the reasons of the last round are kept.
  OCTAVO_TRY(const std::set<std::string> kept_float, NamesIn(graph, ir::kKeptFloatKey));
  OCTAVO_TRY(const FloatChoice choice, FloatChoice::Of(graph, context.settings()));
  Findings& findings = context.findings();
  const size_t kept = findings.kept.size();
  for (int64_t before = -1; before != context.applications();) {
    before = context.applications();
    findings.kept.resize(kept);
    std::erase_if(findings.warnings,
                  [](const Warning& warning) { return warning.code == kFloatInterface; });
    RunOnce(graph, kept_float, choice, context);
    OCTAVO_CHECK(context.settings().stop.Check());
  }
  return {};
}

}  // namespace

const Pass kMoveQuantizePass = {
    .name = "move-quantize",
    .phase = Phase::kOptimize,
    .postcondition =
        "data movement between Quantize and Dequantize moves quantized values, and an imported op "
        "that this brings between them computes in integers",
    .rules = kRules,
    .also_applies = kFormRules,
    .run = &Run,
};

}  // namespace octavo::passes
