#include "core/onnx/fold_rules.h"

#include <algorithm>
#include <cmath>

#include "core/ir/map_quant.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {

using ir::NodeId;
using ir::Role;
using ir::ValueId;

// As much as specialize-bias takes, so that the sum of products has room beside it.
constexpr double kMostBiasCode = 0x1p30;

FoldRules::FoldRules(const ir::Graph& graph, const PlainOf& plain_of, const FoldOptions& options)
    : graph_(graph),
      plain_of_(plain_of),
      options_(options),
      quantize_(ops::FindOp("Quantize", "octavo")),
      dequantize_(ops::FindOp("Dequantize", "octavo")),
      reinterpret_(ops::FindOp("Reinterpret", "octavo")),
      rescale_(ops::FindOp("Rescale", "octavo")),
      folded_(graph.node_bound(), false) {
  for (const NodeId id : graph.nodes()) {
    folded_[static_cast<size_t>(id.index)] = CanFold(id);
    const std::optional<Rows> rows = Folded(id) ? std::nullopt : FindRows(id);
    if (!rows) continue;
    folded_[static_cast<size_t>(id.index)] = true;
    folded_[static_cast<size_t>(rows->product.index)] = true;
    parts_.insert(rows->product);
    rows_.emplace(id, *rows);
  }
}

ValueId FoldRules::Codes(ValueId v) const {
  const NodeId producer = graph_.value(v).producer;
  if (!producer || !IsDequantize(producer)) return {};
  return graph_.node(producer).input(0);
}

const ir::Type* FoldRules::QuantizedTo(ValueId v) const {
  if (const NodeId clamp = ClampOf(v)) {
    const ir::Type* after = QuantizedTo(graph_.node(clamp).result());
    return after != nullptr && after->quant->per_tensor() ? after : nullptr;
  }
  const ir::Value& value = graph_.value(v);
  if (value.output_uses > 0 || value.uses.empty()) return nullptr;
  const ir::Type* type = nullptr;
  for (const ir::Use& use : value.uses) {
    if (!IsQuantize(use.node)) return nullptr;
    const ir::Type& to = graph_.type(graph_.node(use.node).result());
    if (type != nullptr && *type != to) return nullptr;
    type = &to;
  }
  return type;
}

NodeId FoldRules::ClampOf(ValueId v) const {
  const ir::Value& value = graph_.value(v);
  if (value.uses.size() != 1 || value.output_uses > 0 || value.uses.front().input != 0) return {};
  const NodeId reader = value.uses.front().node;
  return graph_.node(reader).op->clamps ? reader : NodeId{};
}

NodeId FoldRules::QuantizeOf(ValueId v) const {
  const NodeId reader = graph_.value(v).uses.front().node;
  return IsQuantize(reader) ? reader : NodeId{};
}

bool FoldRules::NeedsReals(ValueId v) const {
  const ir::Value& value = graph_.value(v);
  if (value.output_uses > 0) return true;
  return std::any_of(value.uses.begin(), value.uses.end(), [&](const ir::Use& use) {
    if (IsQuantize(use.node)) return false;
    const Role role = graph_.node(use.node).op->RoleOf(static_cast<size_t>(use.input));
    return !Folded(use.node) || role == Role::kParameter;
  });
}

ValueId FoldRules::OnlyReading(ValueId input) const {
  const ir::Value& value = graph_.value(input);
  if (value.uses.size() != 1 || value.output_uses > 0) return {};
  const NodeId reader = value.uses.front().node;
  return IsReinterpret(reader) ? graph_.node(reader).result() : ValueId{};
}

// ---------------------------------------------------------------- what folds

std::optional<ir::Quant> FoldRules::BiasQuant(NodeId id) const {
  const ir::Node& node = graph_.node(id);
  const ir::Type *x = nullptr, *w = nullptr;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId codes = node.inputs[i] ? Codes(node.inputs[i]) : ValueId{};
    if (!codes) continue;
    if (node.op->RoleOf(i) == Role::kData && x == nullptr) x = &graph_.type(codes);
    if (node.op->RoleOf(i) == Role::kWeight) w = &graph_.type(codes);
  }
  if (x == nullptr || w == nullptr || !x->quant->per_tensor()) return std::nullopt;
  ir::Quant bias;
  bias.scales.clear();
  for (const float scale : w->quant->scales) bias.scales.push_back(x->quant->scale() * scale);
  bias.zero_points.assign(bias.scales.size(), 0);
  if (w->quant->axis) bias.axis = 0;
  return bias;
}

// Rounding a bias to s_b moves a result by at most s_b / 2.
bool FoldRules::IsFineAsCodes(ValueId result, int64_t channels, ValueId bias,
                              const ir::Quant& quant) const {
  const ir::Type* to = QuantizedTo(result);
  const ir::Type& type = graph_.type(bias);
  if (to == nullptr || !to->quant->per_tensor() || type.dtype != ir::DType::kF32) return false;
  if (type.shape.empty() || type.shape.back() != channels || type.elements() != channels) {
    return false;
  }
  const std::span<const float> reals = graph_.value(bias).constant->tensor.values<float>();
  for (size_t c = 0; c < reals.size(); ++c) {
    const double step = quant.scale(quant.per_tensor() ? 0 : static_cast<int64_t>(c));
    if (step > double{to->quant->scale()}) return false;
    // Negated, so that a NaN fails too.
    if (!(std::fabs(double{reals[c]}) <= step * kMostBiasCode)) return false;
  }
  return true;
}

bool FoldRules::IsPendingBias(NodeId id, size_t input) const {
  const ir::Node& node = graph_.node(id);
  const ir::Value& value = graph_.value(node.inputs[input]);
  if (node.op->RoleOf(input) != Role::kBias || !value.constant) return false;
  const auto quant = BiasQuant(id);
  if (!quant) return false;
  if (options_.pending.count(value.name)) return true;
  const ir::Shape& shape = graph_.type(node.result()).shape;
  return !options_.own && shape.size() > 1 && value.type.shape.size() == 1 &&
         IsFineAsCodes(node.result(), shape[1], node.inputs[input], *quant);
}

std::optional<FoldRules::Rows> FoldRules::FindRows(NodeId id) const {
  const ir::Node& sum = graph_.node(id);
  if (options_.own || sum.op != ops::FindOp("Add")) return std::nullopt;
  for (size_t operand = 0; operand < 2; ++operand) {
    const ValueId y = sum.inputs[operand], bias = sum.inputs[1 - operand];
    const NodeId product = graph_.value(y).producer;
    if (!product || !graph_.IsConstant(bias) || graph_.CountUses(y) != 1) continue;
    const ir::Node& node = graph_.node(product);
    if (node.op != ops::FindOp("MatMul") || !InputFolds(product, 0) || !InputFolds(product, 1)) {
      continue;
    }
    const ir::Shape& shape = graph_.type(y).shape;
    const auto quant = BiasQuant(product);
    if (shape.size() > 2 && shape == graph_.type(sum.result()).shape && quant &&
        graph_.type(node.inputs[1]).shape.size() == 2 &&
        IsFineAsCodes(sum.result(), shape.back(), bias, *quant)) {
      return Rows{product, bias};
    }
  }
  return std::nullopt;
}

const FoldRules::Rows* FoldRules::RowsOf(NodeId id) const {
  const auto at = rows_.find(id);
  return at == rows_.end() ? nullptr : &at->second;
}

bool FoldRules::InputFolds(NodeId id, size_t input) const {
  const ir::Node& node = graph_.node(id);
  const ValueId value = node.inputs[input];
  const Role role = node.op->RoleOf(input);
  if (!value || role == Role::kParameter) return true;
  // A condition or an index is what it is.
  if (graph_.type(value).dtype != ir::DType::kF32) return !graph_.type(value).quantized();
  if (IsPendingBias(id, input)) return true;
  // A clamp of what is folded already.
  if (node.op->clamps && input == 0 && ClampOf(value) == id) {
    const NodeId producer = graph_.value(value).producer;
    if (producer && Folded(producer)) return true;
  }
  const ValueId codes = Codes(value);
  if (!codes) return false;
  const ir::Type& type = graph_.type(codes);
  const bool keeps = node.op->QuantOf(graph_, node).kind == ir::QuantRule::Kind::kSameAsInput;
  switch (role) {
    case Role::kData:
      return ir::SizeOf(type.dtype) <= 2 && (type.quant->per_tensor() || keeps);
    case Role::kWeight:
      if (ir::SizeOf(type.dtype) > 2) return false;
      return type.quant->per_tensor() ||
             (node.op->weight_axis &&
              node.op->weight_axis(graph_, node, static_cast<int>(input)) == *type.quant->axis);
    case Role::kBias: {
      // One that is at another scale than its accumulator has to be added as reals.
      const auto expected = BiasQuant(id);
      return type.dtype == ir::DType::kI32 && expected && expected->scales == type.quant->scales &&
             expected->zero_points == type.quant->zero_points;
    }
    case Role::kParameter:
      break;
  }
  return true;
}

// An operator that keeps its type can be given another one by Rescales where both are per-tensor.
bool FoldRules::KeepsTypeFolds(NodeId id) const {
  const ir::Node& node = graph_.node(id);
  for (size_t k = 0; k < node.results.size(); ++k) {
    const ir::Type* to = QuantizedTo(node.results[k]);
    if (to == nullptr) continue;  // indices
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i] || node.op->RoleOf(i) != Role::kData) continue;
      const ValueId codes = Codes(node.inputs[i]);
      if (!codes) continue;
      const ir::Type& from = graph_.type(codes);
      if (from.quant->per_tensor() && to->quant->per_tensor()) continue;
      if (from.quant->per_tensor()) return false;
      const auto mapped = ir::MapQuant(graph_, node, static_cast<int>(i), k, *from.quant);
      if (mapped != to->quant || from.dtype != to->dtype) return false;
    }
  }
  return true;
}

bool FoldRules::CanFold(NodeId id) const {
  const ir::Node& node = graph_.node(id);
  if (node.op->domain == "octavo") return false;
  using Kind = ir::QuantRule::Kind;
  const Kind kind = node.op->QuantOf(graph_, node).kind;
  if (kind == Kind::kFloatOnly || kind == Kind::kNotReal) return false;
  bool any = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!InputFolds(id, i)) return false;
    if (!node.inputs[i] || node.op->RoleOf(i) == Role::kParameter) continue;
    const NodeId producer = graph_.value(node.inputs[i]).producer;
    any |= Codes(node.inputs[i]) || (producer && Folded(producer));
  }
  if (!any) return false;
  for (const ValueId result : node.results) {
    if (graph_.type(result).dtype != ir::DType::kF32) continue;
    const ir::Type* to = QuantizedTo(result);
    if (graph_.type(result).quantized() || to == nullptr) return false;
    if (kind != Kind::kSameAsInput && !to->quant->per_tensor()) return false;
  }
  return kind != Kind::kSameAsInput || KeepsTypeFolds(id);
}

// ---------------------------------------------------------------- names

const std::string& FoldRules::IntegerName(ValueId v) const {
  const auto plain = plain_of_.find(v);
  return graph_.name(plain == plain_of_.end() ? v : plain->second);
}

std::string FoldRules::NameOf(ValueId v) const {
  const std::string& integers = IntegerName(v);
  if (graph_.IsOutput(v)) return integers;
  ValueId real;  // an inner value that these are the codes of
  bool of_output = false;
  for (const NodeId reader : graph_.Readers(v)) {
    if (!IsDequantize(reader)) continue;
    const ValueId result = graph_.node(reader).result();
    const bool named_alike = graph_.name(result) + ".q" == integers;
    if (graph_.IsOutput(result)) of_output |= named_alike;
    if (!graph_.IsOutput(result) && (named_alike || !real)) real = result;
  }
  if (real && graph_.name(real) + ".q" == integers) return graph_.name(real);
  if (options_.own && integers.ends_with(".q")) {
    std::string original = integers.substr(0, integers.size() - 2);
    if (!graph_.Find(original)) return original;
    // Codes that are stored once for several values.
    if (real && plain_of_.count(v)) return graph_.name(real);
  }
  const NodeId producer = graph_.value(v).producer;
  if (producer && IsQuantize(producer)) {
    const ValueId before = graph_.node(producer).input(0);
    const NodeId op = graph_.value(before).producer;
    if (op && Folded(op)) {
      // A QLinear operator's reals have no name of the model's.
      const bool made = graph_.name(before) == integers + ".float";
      return of_output || made ? integers : graph_.name(before);
    }
  }
  if (producer && IsReinterpret(producer)) return real ? graph_.name(real) : graph_.name(v);
  return integers;
}

}  // namespace octavo::onnx
