#include "core/passes/border.h"

#include <algorithm>
#include <array>

#include "core/passes/clamp_codes.h"
#include "core/passes/code_map.h"
#include "core/passes/relu_in_type.h"
#include "core/passes/rewrite.h"
#include "core/passes/type_range.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Type;
using AtInput = ir::RescaleRule::AtInput;
using AtOutput = ir::RescaleRule::AtOutput;

bool SameType(const Type& a, const Type& b) { return a.dtype == b.dtype && a.quant == b.quant; }

Offer Refuse(std::string why) { return {.why = std::move(why)}; }

// A clamp with bounds is Clip; Relu's bound is the zero point in every mode.
bool HasBounds(const Node& node) { return node.op->clamps && node.inputs.size() > 1; }

// Its result says where the greatest or least element is, which order alone decides.
bool AsksForOrder(const Node& node) {
  static constexpr std::array<std::string_view, 2> kOps = {"ArgMax", "ArgMin"};
  return std::ranges::any_of(kOps, [&](std::string_view op) { return Is(node, op); });
}

Offer OfferToOrder(const Node& reader, const Type& from, const Type& to, ir::Numerics mode) {
  if (from.quant->per_tensor() && to.quant->per_tensor() && IsInjective(from, to, mode)) {
    return {.effect = Effect::kExact, .order_kept = true};
  }
  return Refuse(fmt::format("{} '{}' would see that the Rescale makes codes equal", reader.op->name,
                            reader.name));
}

// Whether each real that the node gives has a code of `type` as it is, since what it chooses among
// has that type: rounding the result to another type at once rounds the same reals.
bool ChoosesCodes(const Graph& graph, const Node& node, const Type& type, ir::Numerics mode) {
  if (!Chooses(node)) return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || node.op->RoleOf(i) != ir::Role::kData) continue;
    if (!SameType(graph.type(node.inputs[i]), type)) return false;
  }
  // Another mode may round a bound otherwise than the code that has its real.
  return !HasBounds(node) ||
         (mode == ir::Numerics::kOnnx && ClampGivesCodes(graph, node, type, mode));
}

// A reader that limits its operand at zero itself lets no more of it through.
std::string WhyReluStaysAbove(const Graph& graph, const target::Target& target, const ir::Use& use,
                              const Type& from, const Type& to) {
  const Node& reader = graph.node(use.node);
  if (reader.op->clamps && WhyReluStays(graph, target, reader.result(), to, from).empty())
    return {};
  return WhyReluStays(to, {&from}, target.numerics, graph.name(reader.inputs[use.input]));
}

}  // namespace

Offer OfferToReadRetyped(const Graph& graph, const target::Target& target, const ir::Use& use,
                         const Type& from, const Type& to) {
  const Node& reader = graph.node(use.node);
  if (AsksForOrder(reader)) return OfferToOrder(reader, from, to, target.numerics);
  if (IsOwn(reader, "Dequantize")) return {.effect = EffectOfOmitting(from, to, target.numerics)};
  if (reader.op->rescale.at_input == AtInput::kSunk) {
    return Refuse(fmt::format("{} '{}' hands codes on in one type", reader.op->name, reader.name));
  }
  if (reader.op->rescale.at_input != AtInput::kAbsorbed ||
      reader.op->RoleOf(use.input) != ir::Role::kData) {
    return Refuse(fmt::format("{} '{}' needs its operand's type", reader.op->name, reader.name));
  }
  if (!from.quant->per_tensor()) {
    return Refuse(
        fmt::format("{} '{}' cannot take a per-channel operand", reader.op->name, reader.name));
  }
  if (!HasActivations(target, from.dtype)) {
    return Refuse(fmt::format("the target has no {} activations", Name(from.dtype)));
  }
  if (target.WantsOneType(reader.op->name)) return Refuse(target.WhyTypeStays(reader.op->name));
  // An op with weights sums products in 32 bits.
  if (reader.op->weight_axis != nullptr && ir::SizeOf(from.dtype) > ir::SizeOf(to.dtype)) {
    return Refuse(fmt::format("{} '{}' would sum products of {} in 32 bits", reader.op->name,
                              reader.name, Name(from.dtype)));
  }
  if (reader.op->rescale.why_not) {
    std::string why = reader.op->rescale.why_not(graph, reader, from, to);
    if (!why.empty()) return Refuse(std::move(why));
  }
  if (HasBounds(reader) && target.numerics == ir::Numerics::kGlowCpu) {
    return Refuse(fmt::format("{} '{}' of glow-cpu limits codes of the type that it is given",
                              reader.op->name, reader.name));
  }
  if (Chooses(reader) && graph.type(reader.result()).quantized() &&
      SameType(graph.type(reader.result()), to)) {
    return {.effect = Effect::kExact, .clamped_again = true};
  }
  return {.effect = EffectOfOmitting(from, to, target.numerics)};
}

Offer OfferToRead(const Graph& graph, const target::Target& target, const ir::Use& use,
                  const Type& from, const Type& to) {
  Offer offer = OfferToReadRetyped(graph, target, use, from, to);
  if (!offer.effect || *offer.effect == Effect::kExact) return offer;
  std::string why = WhyReluStaysAbove(graph, target, use, from, to);
  return why.empty() ? offer : Refuse(std::move(why));
}

Offer OfferToGive(const Graph& graph, const target::Target& target, ir::ValueId value,
                  const Type& from, const Type& to) {
  const Node* producer = graph.Producer(value);
  if (producer == nullptr || producer->op->rescale.at_output != AtOutput::kAbsorbed ||
      IsOwn(*producer, "Rescale")) {
    return {};
  }
  // What is proven of the Rescale's result may be so because its operand was clamped.
  Type kept = to;
  kept.range.reset();
  Offer offer{.effect = EffectOfOmitting(kept, from, target.numerics)};
  if (std::string why = WhyReluStays(graph, target, value, from, kept); !why.empty()) {
    return Refuse(std::move(why));
  }
  if (IsOwn(*producer, "Quantize")) return offer;
  if (!from.quant->per_tensor() || !to.quant->per_tensor()) {
    return Refuse(
        fmt::format("{} '{}' cannot give a per-channel type", producer->op->name, producer->name));
  }
  if (!HasActivations(target, to.dtype)) {
    return Refuse(fmt::format("the target has no {} activations", Name(to.dtype)));
  }
  if (ChoosesCodes(graph, *producer, from, target.numerics)) offer.effect = Effect::kExact;
  if (std::string why = target.WhyTypeStays(producer->op->name); !why.empty()) {
    return Refuse(std::move(why));
  }
  return offer;
}

Offer OfferToMerge(const Type& from, const Type& middle, const Type& to, ir::Numerics mode,
                   std::string_view name) {
  if (SameCodesBy({&from, &middle, &to}, {&from, &to}, mode)) return {.effect = Effect::kExact};
  Type whole = to;  // what is proven of it may be so because of `middle`
  whole.range.reset();
  if (std::string why = WhyReluStays(middle, {&from, &whole}, mode, name); !why.empty()) {
    return Refuse(std::move(why));
  }
  return {.effect = IntersectionInside(from, to, middle, mode) ? Effect::kFewerRoundings
                                                               : Effect::kFewerClamps};
}

bool HasActivations(const target::Target& target, ir::DType dtype) {
  return std::ranges::find(target.activations, dtype) != target.activations.end();
}

}  // namespace octavo::passes
