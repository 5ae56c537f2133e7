// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/fold_conditions.h"

#include <algorithm>

#include "core/passes/analysis/clamp.h"
#include "core/passes/analysis/implicit_relu.h"
#include "core/passes/analysis/order.h"
#include "core/passes/analysis/rescale_chain.h"
#include "core/passes/analysis/type_range.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Type;
using AtInput = ir::RescaleRule::AtInput;
using AtOutput = ir::RescaleRule::AtOutput;

FoldCheck Refuse(std::string why) { return {.why = std::move(why)}; }

// True for Clip, but not for Relu: its bound is the zero point in every mode.
bool HasBounds(const Node& node) { return node.op->clamps && node.inputs.size() > 1; }

FoldCheck CanFoldIntoOrder(const Graph& graph, const ir::Use& use, const Type& from, const Type& to,
                           const numerics::Mode& mode) {
  std::string why = WhyOrderChanges(graph, mode, use, {&from, &to}, {&from});
  const Effect effect = why.empty() ? Effect::kExact : Effect::kNewParameters;
  return {.effect = effect, .why = std::move(why), .depends_on_order = true};
}

// The change of an index has no bound in LSBs: if `why` is a reason that one may change, the effect
// is new-parameters.
FoldCheck WithOrder(FoldCheck check, std::string why) {
  if (why.empty()) return check;
  check.effect = Effect::kNewParameters;
  check.why = std::move(why);
  return check;
}

bool MayChange(const FoldCheck& check) { return check.effect && *check.effect != Effect::kExact; }

// Whether `type` represents every result of the node exactly, since the node selects among values
// of that type: rounding the result to another type directly rounds the same values.
bool SelectsValuesOf(const Graph& graph, const Node& node, const Type& type,
                     const numerics::Mode& mode) {
  if (!SelectsOperand(node)) return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || node.op->RoleOf(i) != ir::Role::kData) continue;
    if (!graph.type(node.inputs[i]).SameQuantization(type)) return false;
  }
  // Other modes may round a bound to another stored integer than the one that represents it
  // exactly.
  return !HasBounds(node) || (mode.qlinear && ClampIsRepresentable(graph, node, type, mode));
}

// Whether the op scales that operand itself.  A computed weight is data like any other, but a bias
// is at s_x * s_w of the weight that it was made for.
bool ScalesOperand(const Graph& graph, const Node& consumer, int input) {
  if (consumer.op->rescale.at_input != AtInput::kFold) return false;
  if (consumer.op->RoleOf(input) == ir::Role::kData) return true;
  if (consumer.op->RoleOf(input) != ir::Role::kWeight) return false;
  for (size_t i = 0; i < consumer.inputs.size(); ++i) {
    if (consumer.inputs[i] && consumer.op->RoleOf(i) == ir::Role::kBias) return false;
  }
  ir::ValueId weight = consumer.inputs[input];
  for (const Node* node = graph.Producer(weight); node != nullptr; node = graph.Producer(weight)) {
    if (!IsOwn(*node, "Rescale") && !IsOwn(*node, "Quantize")) return true;
    weight = node->inputs[0];
  }
  return !graph.IsConstant(weight);
}

// Why the numerics mode would not define the node any more if the operand `input`, or the result if
// `input` is -1, were of that type: some modes compare values of one type only.
std::string WhyUndefined(const Graph& graph, const Node& node, int input, const Type& type,
                         const numerics::Mode& mode) {
  if (mode.binary.empty() || node.inputs.size() != 2) return {};
  const auto type_of = [&](int operand) -> const Type& {
    if (operand == input) return type;
    return graph.type(operand < 0 ? node.result() : node.inputs[static_cast<size_t>(operand)]);
  };
  const numerics::BinaryTypes types{type_of(0), type_of(1), type_of(-1)};
  const auto plain = [](const Type& each) { return each.quantized() && each.quant->per_tensor(); };
  if (std::ranges::count(mode.binary, node.op->name, &numerics::BinaryRow::op) == 0 ||
      !plain(types.a) || !plain(types.b) || !plain(types.y)) {
    return {};
  }
  const int width = ir::SizeOf(types.y.dtype);
  if (ir::SizeOf(types.a.dtype) == width && ir::SizeOf(types.b.dtype) == width &&
      numerics::MakeBinary(mode, node.op->name, types) != nullptr) {
    return {};
  }
  return fmt::format("numerics mode '{}' does not define {} '{}' for those types", mode.name,
                     node.op->name, node.name);
}

// A consumer that clamps its operand at zero itself needs no implicit Relu before it.
std::string WhyReluStaysAbove(const Graph& graph, const target::Target& target, const ir::Use& use,
                              const Type& from, const Type& to) {
  const Node& consumer = graph.node(use.node);
  if (consumer.op->clamps && WhyReluStays(graph, target, consumer.result(), to, from).empty())
    return {};
  return WhyReluStays(to, {&from}, *target.numerics, graph.name(consumer.inputs[use.input]));
}

// Whether the constant has an element beyond the type's range, which rounding it there would clamp.
bool ClampsConstant(const ir::Tensor& real, const Type& type, const numerics::Mode& mode) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  const std::vector<int64_t> strides = ir::StridesOf(real.shape());
  const int64_t stride = type.quant->per_tensor() ? real.size() + 1 : strides[*type.quant->axis];
  const auto channels = static_cast<int64_t>(type.quant->scales.size());
  const std::span<const float> elements = real.values<float>();
  for (size_t i = 0; i < elements.size(); ++i) {
    const int64_t channel = (static_cast<int64_t>(i) / stride) % channels;
    const double rounded = mode.quantize(elements[i], numerics::ChannelQuant::Of(type, channel));
    // Negated, so that a NaN counts.
    if (!(rounded >= static_cast<double>(range.min) && rounded <= static_cast<double>(range.max))) {
      return true;
    }
  }
  return false;
}

// Whether the node quantizes a constant that its result's type does not clamp: every other type may
// round the constant's elements instead.
bool IsUnclampedConstant(const Graph& graph, const Node& node, const numerics::Mode& mode) {
  if (!IsOwn(node, "Quantize") || !graph.IsConstant(node.inputs[0])) return false;
  const ir::Tensor& real = graph.value(node.inputs[0]).constant->tensor;
  return !ClampsConstant(real, graph.type(node.result()), mode);
}

}  // namespace

FoldCheck ConsumerAccepts(const Graph& graph, const target::Target& target, const ir::Use& use,
                          const Type& from, const Type& to) {
  const Node& consumer = graph.node(use.node);
  if (ReadsOnlyOrder(consumer, use.input)) {
    return CanFoldIntoOrder(graph, use, from, to, *target.numerics);
  }
  if (IsOwn(consumer, "Dequantize"))
    return {.effect = EffectOfOmitting(from, to, *target.numerics)};
  if (consumer.op->rescale.at_input == AtInput::kSink) {
    return Refuse(fmt::format(
        "{} '{}' requires identical quantization parameters on all inputs and its output",
        consumer.op->name, consumer.name));
  }
  if (!ScalesOperand(graph, consumer, use.input)) {
    return Refuse(fmt::format("{} '{}' does not accept other quantization parameters on that input",
                              consumer.op->name, consumer.name));
  }
  if (!from.quant->per_tensor()) {
    return Refuse(fmt::format("{} '{}' does not support a per-channel operand", consumer.op->name,
                              consumer.name));
  }
  if (!HasActivations(target, from.dtype)) {
    return Refuse(fmt::format("the target does not support {} activations", Name(from.dtype)));
  }
  if (target.WantsOneType(consumer.op->name)) return Refuse(target.WhyTypeStays(consumer.op->name));
  // An op with weights accumulates products in 32 bits.
  if (consumer.op->weight_axis != nullptr && ir::SizeOf(from.dtype) > ir::SizeOf(to.dtype)) {
    return Refuse(
        fmt::format("{} '{}' would accumulate products of {} in 32 bits, which can overflow",
                    consumer.op->name, consumer.name, Name(from.dtype)));
  }
  if (consumer.op->rescale.why_not) {
    std::string why = consumer.op->rescale.why_not(graph, consumer, from, to);
    if (!why.empty()) return Refuse(std::move(why));
  }
  if (std::string why = WhyUndefined(graph, consumer, use.input, from, *target.numerics);
      !why.empty()) {
    return Refuse(std::move(why));
  }
  if (HasBounds(consumer) && target.numerics->clips_in_operand_type) {
    return Refuse(
        fmt::format("{} '{}' clamps at its operand's quantization parameters in mode glow-cpu",
                    consumer.op->name, consumer.name));
  }
  if (SelectsOperand(consumer) && graph.type(consumer.result()).quantized() &&
      graph.type(consumer.result()).SameQuantization(to)) {
    return {.effect = Effect::kExact, .clamped_again = true};
  }
  return {.effect = EffectOfOmitting(from, to, *target.numerics)};
}

FoldCheck CanFoldIntoConsumer(const Graph& graph, const target::Target& target, const ir::Use& use,
                              const Type& from, const Type& to) {
  FoldCheck check = ConsumerAccepts(graph, target, use, from, to);
  if (!MayChange(check)) return check;
  if (std::string why = WhyReluStaysAbove(graph, target, use, from, to); !why.empty()) {
    return Refuse(std::move(why));
  }
  if (check.depends_on_order) return check;
  const Node& consumer = graph.node(use.node);
  if (IsOwn(consumer, "Dequantize")) {
    return WithOrder(std::move(check), WhyOrderChanges(graph, *target.numerics, consumer.result(),
                                                       {&from, &to}, {&from}));
  }
  if (!SelectsOperand(consumer)) return check;
  return WithOrder(std::move(check), WhyOrderChanges(graph, consumer.result()));
}

FoldCheck CanFoldIntoProducer(const Graph& graph, const target::Target& target, ir::ValueId value,
                              const Type& from, const Type& to) {
  const Node* producer = graph.Producer(value);
  if (producer == nullptr || producer->op->rescale.at_output != AtOutput::kFold ||
      IsOwn(*producer, "Rescale")) {
    return {};
  }
  // The proven range of the Rescale's result may follow from the clamp of its operand.
  Type kept = to;
  kept.range.reset();
  FoldCheck check{.effect = EffectOfOmitting(kept, from, *target.numerics)};
  std::string relu = WhyReluStays(graph, target, value, from, kept);
  if ((check.effect != Effect::kFewerRoundings || !relu.empty()) &&
      IsUnclampedConstant(graph, *producer, *target.numerics)) {
    check.effect = Effect::kFewerRoundings;
    relu.clear();
  }
  if (!relu.empty()) return Refuse(std::move(relu));
  std::string order = WhyOrderChanges(graph, value);
  if (IsOwn(*producer, "Quantize")) return WithOrder(std::move(check), std::move(order));
  if (!from.quant->per_tensor() || !to.quant->per_tensor()) {
    return Refuse(fmt::format("{} '{}' does not support a per-channel result", producer->op->name,
                              producer->name));
  }
  if (!HasActivations(target, to.dtype)) {
    return Refuse(fmt::format("the target does not support {} activations", Name(to.dtype)));
  }
  if (std::string why = WhyUndefined(graph, *producer, -1, kept, *target.numerics); !why.empty()) {
    return Refuse(std::move(why));
  }
  if (SelectsValuesOf(graph, *producer, from, *target.numerics)) check.effect = Effect::kExact;
  if (std::string why = target.WhyTypeStays(producer->op->name); !why.empty()) {
    return Refuse(std::move(why));
  }
  return MayChange(check) ? WithOrder(std::move(check), std::move(order)) : check;
}

FoldCheck CanMerge(const Type& from, const Type& middle, const Type& to, const numerics::Mode& mode,
                   std::string_view name) {
  if (SameResults({&from, &middle, &to}, {&from, &to}, mode)) return {.effect = Effect::kExact};
  Type whole = to;  // its proven range may follow from `middle`
  whole.range.reset();
  if (std::string why = WhyReluStays(middle, {&from, &whole}, mode, name); !why.empty()) {
    return Refuse(std::move(why));
  }
  return {.effect = IntersectionInside(from, to, middle, mode) ? Effect::kFewerRoundings
                                                               : Effect::kFewerClamps};
}

FoldCheck CanMerge(const Graph& graph, const Node& second, const numerics::Mode& mode,
                   const OrderFollows& order_follows) {
  const Node& first = *graph.Producer(second.inputs[0]);
  const Type &from = graph.type(first.inputs[0]), &middle = graph.type(second.inputs[0]);
  const Type& to = graph.type(second.result());
  FoldCheck check = CanMerge(from, middle, to, mode, graph.name(second.inputs[0]));
  if (!MayChange(check) || !order_follows(second.result())) return check;
  return WithOrder(std::move(check), WhyOrderChanges(graph, mode, second.result(),
                                                     {&from, &middle, &to}, {&from, &to}));
}

bool HasActivations(const target::Target& target, ir::DType dtype) {
  return std::ranges::find(target.activations, dtype) != target.activations.end();
}

}  // namespace octavo::passes
