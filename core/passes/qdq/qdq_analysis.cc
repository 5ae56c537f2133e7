// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/qdq_analysis.h"

#include <algorithm>
#include <cmath>

#include "core/ir/map_quant.h"
#include "core/ir/output_channels.h"
#include "core/ir/qdq_notes.h"
#include "core/ops/op_table.h"

namespace octavo::passes {

using ir::NodeId;
using ir::Role;
using ir::ValueId;

// The same limit as in specialize-bias: the sum of products needs the rest of an int32.
constexpr double kLargestBias = 0x1p30;

static size_t Index(ValueId id) { return static_cast<size_t>(id.index); }

QdqAnalysis::QdqAnalysis(const ir::Graph& graph, const QdqOrigin& origin)
    : graph_(graph),
      origin_(origin),
      quantize_(ops::FindOp("Quantize", "octavo")),
      dequantize_(ops::FindOp("Dequantize", "octavo")),
      reinterpret_(ops::FindOp("Reinterpret", "octavo")),
      rescale_(ops::FindOp("Rescale", "octavo")),
      folds_(graph.node_bound(), false) {
  FollowClamps();
  for (const NodeId id : graph.nodes()) {
    folds_[static_cast<size_t>(id.index)] = CanFold(id);
    const auto gemm = Folds(id) ? std::nullopt : MatchGemm(id);
    if (!gemm) continue;
    folds_[static_cast<size_t>(id.index)] = true;
    folds_[static_cast<size_t>(gemm->product.index)] = true;
    parts_.insert(gemm->product);
    gemms_.emplace(id, *gemm);
  }
}

void QdqAnalysis::FollowClamps() {
  for (size_t i = 0; i < graph_.value_bound(); ++i) {
    clamped_.push_back(ValueId{static_cast<int32_t>(i)});
  }
  std::vector<NodeId> order;
  for (const NodeId id : graph_.nodes()) order.push_back(id);
  std::reverse(order.begin(), order.end());
  for (const NodeId id : order) {
    for (const ValueId result : graph_.node(id).results) {
      const NodeId clamp = result ? ClampOf(result) : NodeId{};
      if (clamp) clamped_[Index(result)] = clamped_[Index(graph_.node(clamp).result())];
    }
  }
}

ValueId QdqAnalysis::Quantized(ValueId v) const {
  const NodeId producer = graph_.value(v).producer;
  if (!producer || !IsDequantize(producer)) return {};
  const ValueId quantized = graph_.node(producer).input(0);
  // No op computes with the integers of blocks.
  return graph_.type(quantized).blocked() ? ValueId{} : quantized;
}

ValueId QdqAnalysis::Plain(ValueId v) const {
  const NodeId producer = graph_.value(v).producer;
  if (!producer || !IsReinterpret(producer)) return {};
  return graph_.node(producer).input(0);
}

const ir::Type* QdqAnalysis::QuantizedTo(ValueId v) const {
  const ValueId last = clamped_[Index(v)];
  const ir::Value& value = graph_.value(last);
  if (value.output_uses > 0) return nullptr;
  const ir::Type* type = nullptr;
  for (const ir::Use& use : value.uses) {
    if (!IsQuantize(use.node)) return nullptr;
    const ir::Type& to = graph_.type(graph_.node(use.node).result());
    if (type != nullptr && *type != to) return nullptr;
    type = &to;
  }
  return type != nullptr && (last == v || type->quant->per_tensor()) ? type : nullptr;
}

NodeId QdqAnalysis::ClampOf(ValueId v) const {
  const ir::Value& value = graph_.value(v);
  if (value.uses.size() != 1 || value.output_uses > 0 || value.uses.front().input != 0) return {};
  const NodeId consumer = value.uses.front().node;
  const ir::Node& node = graph_.node(consumer);
  return node.op->clamps && !origin_.kept_float.contains(node.name) ? consumer : NodeId{};
}

NodeId QdqAnalysis::QuantizeOf(ValueId v) const {
  const NodeId consumer = graph_.value(v).uses.front().node;
  return IsQuantize(consumer) ? consumer : NodeId{};
}

bool QdqAnalysis::NeedsFloat(ValueId v) const {
  const ir::Value& value = graph_.value(v);
  if (value.output_uses > 0 || !Quantized(v)) return true;
  return std::any_of(value.uses.begin(), value.uses.end(), [&](const ir::Use& use) {
    if (IsQuantize(use.node)) return false;
    const Role role = graph_.node(use.node).op->RoleOf(static_cast<size_t>(use.input));
    return !Folds(use.node) || role == Role::kParameter;
  });
}

ValueId QdqAnalysis::OnlyReinterpret(ValueId plain) const {
  const ir::Value& value = graph_.value(plain);
  if (value.uses.size() != 1) return {};
  const NodeId consumer = value.uses.front().node;
  return IsReinterpret(consumer) ? graph_.node(consumer).result() : ValueId{};
}

bool QdqAnalysis::NeedsPlain(ValueId plain) const {
  if (OnlyReinterpret(plain)) return false;
  const ir::Value& value = graph_.value(plain);
  return value.output_uses > 0 || std::ranges::any_of(value.uses, [&](const ir::Use& use) {
           return !IsReinterpret(use.node);
         });
}

// ---------------------------------------------------------------- which ops fold

std::optional<ir::Quant> QdqAnalysis::BiasQuant(NodeId id, const ir::Shape& bias) const {
  const ir::ProductOperands operands = ir::ProductOperandsOf(graph_.node(id));
  const ValueId x = operands.data ? Quantized(operands.data) : ValueId{};
  const ValueId w = operands.weight ? Quantized(operands.weight) : ValueId{};
  if (!x || !w || !graph_.type(x).quant->per_tensor()) return std::nullopt;
  return ir::BiasQuant(*graph_.type(x).quant, *graph_.type(w).quant, bias);
}

// Rounding a bias to scale s_b changes a result by at most s_b / 2.
bool QdqAnalysis::FitsAsBias(ValueId result, int64_t channels, ValueId bias,
                             const ir::Quant& quant) const {
  const ir::Type* to = QuantizedTo(result);
  const ir::Type& type = graph_.type(bias);
  if (to == nullptr || !to->quant->per_tensor() || type.dtype != ir::DType::kF32) return false;
  if (type.shape.empty() || type.shape.back() != channels || type.elements() != channels) {
    return false;
  }
  const std::span<const float> elements = graph_.value(bias).constant->tensor.values<float>();
  for (size_t c = 0; c < elements.size(); ++c) {
    const double step = quant.scale(static_cast<int64_t>(c));
    if (step > double{to->quant->scale()}) return false;
    // The comparison is negated so that a NaN fails too.
    if (!(std::fabs(double{elements[c]}) <= step * kLargestBias)) return false;
  }
  return true;
}

bool QdqAnalysis::IsFloatBias(NodeId id, size_t input) const {
  const ir::Node& node = graph_.node(id);
  const ir::Value& value = graph_.value(node.inputs[input]);
  if (node.op->RoleOf(input) != Role::kBias || !value.constant) return false;
  const auto quant = BiasQuant(id, {value.type.elements()});
  if (!quant) return false;
  if (origin_.pending.count(value.name) || StaysFloat(node.inputs[input])) return true;
  const int64_t channels = graph_.type(node.result()).shape[ir::kOutputChannelAxis];
  return !origin_.own && ir::HasPlainBias(graph_, node) &&
         FitsAsBias(node.result(), channels, node.inputs[input], *quant);
}

bool QdqAnalysis::HasFloatConsumers(ValueId bias) const {
  const ir::Value& value = graph_.value(bias);
  return value.output_uses > 0 || std::ranges::any_of(value.uses, [&](const ir::Use& use) {
           const BatchedGemm* gemm = GemmOf(use.node);
           if (gemm != nullptr) return gemm->bias != bias;
           return !Folds(use.node) || !IsFloatBias(use.node, static_cast<size_t>(use.input));
         });
}

std::optional<QdqAnalysis::BatchedGemm> QdqAnalysis::MatchGemm(NodeId id) const {
  const ir::Node& sum = graph_.node(id);
  if (origin_.own || sum.op != ops::FindOp("Add") || origin_.kept_float.contains(sum.name)) {
    return std::nullopt;
  }
  for (size_t operand = 0; operand < 2; ++operand) {
    const ValueId y = sum.inputs[operand], bias = sum.inputs[1 - operand];
    const NodeId product = graph_.value(y).producer;
    if (!product || !graph_.IsConstant(bias) || graph_.CountUses(y) != 1) continue;
    const ir::Node& node = graph_.node(product);
    if (node.op != ops::FindOp("MatMul") || origin_.kept_float.contains(node.name) ||
        !InputFolds(product, 0) || !InputFolds(product, 1)) {
      continue;
    }
    const ir::Shape& shape = graph_.type(y).shape;
    const auto quant = BiasQuant(product, {shape.empty() ? 1 : shape.back()});
    if (shape.size() > 2 && shape == graph_.type(sum.result()).shape && quant &&
        graph_.type(node.inputs[1]).shape.size() == 2 &&
        FitsAsBias(sum.result(), shape.back(), bias, *quant)) {
      return BatchedGemm{product, bias};
    }
  }
  return std::nullopt;
}

const QdqAnalysis::BatchedGemm* QdqAnalysis::GemmOf(NodeId add) const {
  const auto at = gemms_.find(add);
  return at == gemms_.end() ? nullptr : &at->second;
}

bool QdqAnalysis::InputFolds(NodeId id, size_t input) const {
  const ir::Node& node = graph_.node(id);
  const ValueId value = node.inputs[input];
  const Role role = node.op->RoleOf(input);
  if (!value || role == Role::kParameter) return true;
  // Conditions and indices keep their type.
  if (graph_.type(value).dtype != ir::DType::kF32) return !graph_.type(value).quantized();
  if (IsFloatBias(id, input)) return true;
  // A clamp of the result of an op that folds.
  if (node.op->clamps && input == 0 && ClampOf(value) == id) {
    const NodeId producer = graph_.value(value).producer;
    if (producer && Folds(producer) && !HasFloatResult(producer)) return true;
  }
  const ValueId quantized = Quantized(value);
  if (!quantized) return false;
  const ir::Type& type = graph_.type(quantized);
  const bool keeps = node.op->QuantOf(graph_, node).kind == ir::QuantRule::Kind::kSameScale;
  switch (role) {
    case Role::kData:
      // Octavo's own export lists what stays float; another tool asks for float arithmetic.
      return ir::SizeOf(type.dtype) <= 2 && (type.quant->per_tensor() || keeps || origin_.own);
    case Role::kWeight:
      if (ir::SizeOf(type.dtype) > 2) return false;
      return type.quant->per_tensor() ||
             (node.op->weight_axis &&
              node.op->weight_axis(graph_, node, static_cast<int>(input)) == *type.quant->axis);
    case Role::kBias: {
      // A bias at another scale than its accumulator has to be added in float, and so has one that
      // is not one value per channel.
      if (type.dtype != ir::DType::kI32 || !ir::HasPlainBias(graph_, node)) return false;
      const auto expected = BiasQuant(id, type.shape);
      return expected && expected->scales == type.quant->scales &&
             expected->zero_points == type.quant->zero_points;
    }
    case Role::kParameter:
      break;
  }
  return true;
}

// Rescales can change the type of a same-scale op if both types are per-tensor.
bool QdqAnalysis::SameScaleFolds(NodeId id) const {
  const ir::Node& node = graph_.node(id);
  for (size_t k = 0; k < node.results.size(); ++k) {
    const ir::Type* to = QuantizedTo(node.results[k]);
    if (to == nullptr) continue;  // indices
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i] || node.op->RoleOf(i) != Role::kData) continue;
      const ValueId quantized = Quantized(node.inputs[i]);
      if (!quantized) continue;
      const ir::Type& from = graph_.type(quantized);
      if (from.quant->per_tensor() && to->quant->per_tensor()) continue;
      if (from.quant->per_tensor()) return false;
      const auto mapped = ir::MapQuant(graph_, node, static_cast<int>(i), k, *from.quant);
      if (mapped != to->quant || from.dtype != to->dtype) return false;
    }
  }
  return true;
}

bool QdqAnalysis::MayHaveFloatResult(const ir::Node& node) const {
  const ir::ProductOperands operands = ir::ProductOperandsOf(node);
  if (!origin_.float_result.contains(node.name)) return false;
  if (!operands.data || !operands.weight || !Quantized(operands.data)) return false;
  const std::vector<ir::Use>& uses = graph_.value(node.result()).uses;
  return Quantized(operands.weight) && graph_.type(node.result()).dtype == ir::DType::kF32 &&
         std::ranges::none_of(uses, [&](const ir::Use& use) { return IsQuantize(use.node); });
}

bool QdqAnalysis::CanFold(NodeId id) const {
  const ir::Node& node = graph_.node(id);
  if (node.op->domain == "octavo" || origin_.kept_float.contains(node.name)) return false;
  using Kind = ir::QuantRule::Kind;
  const Kind kind = node.op->QuantOf(graph_, node).kind;
  if (kind == Kind::kFloatOnly || kind == Kind::kNotReal) return false;
  bool any = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!InputFolds(id, i)) return false;
    if (!node.inputs[i] || node.op->RoleOf(i) == Role::kParameter) continue;
    const NodeId producer = graph_.value(node.inputs[i]).producer;
    any |= Quantized(node.inputs[i]) || (producer && Folds(producer) && !HasFloatResult(producer));
  }
  if (!any) return false;
  if (MayHaveFloatResult(node)) return true;
  for (const ValueId result : node.results) {
    if (graph_.type(result).dtype != ir::DType::kF32) continue;
    const ir::Type* to = QuantizedTo(result);
    if (graph_.type(result).quantized() || to == nullptr) return false;
    if (kind != Kind::kSameScale && !to->quant->per_tensor()) return false;
  }
  return kind != Kind::kSameScale || SameScaleFolds(id);
}

// ---------------------------------------------------------------- names

namespace {

// y of the names y.float and y.q (or y.q_1..), by which an export calls the tensors of a value y;
// empty if they are not of this form.
std::string StemOf(const std::string& before, const std::string& integers) {
  const size_t end = before.rfind(".float");
  if (end == std::string::npos || end == 0) return {};
  std::string stem = before.substr(0, end);
  const bool both =
      ir::IsNumberedName(before, stem + ".float") && ir::IsNumberedName(integers, stem + ".q");
  return both ? stem : std::string();
}

}  // namespace

std::string QdqAnalysis::NameOf(ValueId v) const {
  const ValueId plain = Plain(v);
  const bool is_constant = plain && graph_.IsConstant(plain);
  const std::string& integers = graph_.name(plain ? plain : v);  // the model's integer tensor
  if (graph_.IsOutput(plain ? plain : v)) return integers;
  ValueId real;  // an inner value that v represents
  bool of_output = false;
  for (const NodeId consumer : graph_.Consumers(v)) {
    if (!IsDequantize(consumer)) continue;
    const ValueId result = graph_.node(consumer).result();
    const bool same_stem = ir::IsNumberedName(integers, graph_.name(result) + ".q");
    if (graph_.IsOutput(result)) of_output |= same_stem;
    if (!graph_.IsOutput(result) && (same_stem || !real)) real = result;
  }
  if (real && ir::IsNumberedName(integers, graph_.name(real) + ".q")) return graph_.name(real);
  if (origin_.own && integers.ends_with(".q")) {
    std::string original = integers.substr(0, integers.size() - 2);
    if (!graph_.Find(original)) return original;
    // The float `original` is in the model as well.
    if (real && ir::IsNumberedName(graph_.name(real), original + ".dq")) return integers;
    // One tensor represents several equal values.
    if (real && plain) return graph_.name(real);
  }
  const NodeId producer = graph_.value(v).producer;
  if (producer && IsQuantize(producer)) {
    const ValueId before = graph_.node(producer).input(0);
    const NodeId op = graph_.value(before).producer;
    if (op && Folds(op)) {
      // The float result of a QLinear operator has no name in the model.
      const bool made = graph_.name(before) == integers + ".float";
      std::string stem = StemOf(graph_.name(before), integers);
      if (origin_.own && !stem.empty() && !graph_.Find(stem)) return stem;
      return of_output || made ? integers : graph_.name(before);
    }
  }
  if (plain && !is_constant) return real ? graph_.name(real) : graph_.name(v);
  return integers;
}

}  // namespace octavo::passes
