// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/export/quirks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/op_table.h"
#include "core/ops/shared/window.h"

namespace octavo::onnx {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;
using target::Quirk;
using target::QuirkCondition;
using target::QuirkRemedy;

bool IsOwn(const Node* node, std::string_view op) {
  return node != nullptr && node->op->domain == "octavo" && node->op->name == op;
}

// The quantized value that an operand is or is dequantized from; none for any other operand.
ValueId QuantizedSource(const Graph& graph, const Node& node, size_t input) {
  const ValueId value = node.input(input);
  if (!value || graph.type(value).quantized()) return value;
  const Node* producer = graph.Producer(value);
  return IsOwn(producer, "Dequantize") ? producer->input(0) : ValueId{};
}

// Its type; null if there is none.
const Type* QuantizedOperand(const Graph& graph, const Node& node, size_t input) {
  const ValueId source = QuantizedSource(graph, node, input);
  return source ? &graph.type(source) : nullptr;
}

// Whether the node has a first result, and that is quantized.
bool ComputesIntegers(const Graph& graph, const Node& node) {
  return node.results[0] && graph.type(node.results[0]).quantized();
}

// The quantized type that the first result has or is quantized to; null for any other result.
const Type* QuantizedResult(const Graph& graph, const Node& node) {
  if (!node.results[0]) return nullptr;
  const Type& type = graph.type(node.results[0]);
  if (type.quantized()) return &type;
  for (const NodeId consumer : graph.Consumers(node.results[0])) {
    const Node& quantize = graph.node(consumer);
    if (IsOwn(&quantize, "Quantize")) return &graph.type(quantize.result());
  }
  return nullptr;
}

bool HasChannels(const Type* type) { return type != nullptr && type->quant->scales.size() > 1; }

bool IsFloatConstant(const Graph& graph, ValueId value) {
  return value && graph.IsConstant(value) && graph.type(value).dtype == ir::DType::kF32 &&
         !graph.type(value).quantized();
}

// Quotients beyond this become infinite in the runtime's table, whose entries are the largest
// float divided by the extent and by the exponential of what it keeps in reserve.
bool HasFineScale(const Graph& graph, const Node& node, double limit) {
  const Type* result = QuantizedResult(graph, node);
  if (result == nullptr || HasChannels(result)) return false;
  const ir::Shape& shape = graph.type(node.results[0]).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = node.attributes.Int("axis", -1);
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) return false;
  return result->quant->scale() * limit * static_cast<double>(shape[at]) < 1;
}

// The runtime multiplies by the whole part of the reciprocal, which it computes in float.
bool HasInexactReciprocal(const Graph& graph, const Node& node, double limit) {
  const Type* result = QuantizedResult(graph, node);
  if (result == nullptr || HasChannels(result)) return false;
  const float scale = result->quant->scale();
  return 1 - double{scale} * std::floor(1.0f / scale) > limit;
}

bool HasOddZeroPoint(const Type* type) {
  return type != nullptr &&
         std::ranges::any_of(type->quant->zero_points, [](int32_t zero) { return zero % 2 != 0; });
}

bool IsDilated(const Node& node) {
  const std::vector<int64_t> dilations = node.attributes.Ints("dilations");
  return std::ranges::any_of(dilations, [](int64_t each) { return each != 1; });
}

bool HasBiasOfAnotherScale(const Graph& graph, const Node& node) {
  const ValueId bias = QuantizedSource(graph, node, 2);
  if (!bias || !graph.IsConstant(bias) || graph.type(bias).dtype != ir::DType::kI32) return false;
  const Type *data = QuantizedOperand(graph, node, 0), *weight = QuantizedOperand(graph, node, 1);
  if (data == nullptr || HasChannels(data) || !HasChannels(weight)) return false;
  const size_t channels = weight->quant->scales.size();
  const Type& type = graph.type(bias);
  return type.quant->scales.size() != channels || type.elements() != static_cast<int64_t>(channels);
}

// The most values that a search looks at, so that its cost does not depend on the graph.
constexpr size_t kMaxValues = 64;

// Runtimes look through a clamp, and move QuantizeLinear and DequantizeLinear past movement of one
// operand.
bool IsLookedThrough(const Node& node) {
  if (!node.op->clamps && node.op->moves_data == ir::Movement::kNone) return false;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && node.op->RoleOf(i) != ir::Role::kParameter) return false;
  }
  return true;
}

// Whether the float value is dequantized, or moved or clamped from one that is.
bool FollowsFromIntegers(const Graph& graph, ValueId value) {
  for (size_t step = 0; value && step < kMaxValues; ++step) {
    if (graph.type(value).quantized()) return true;
    const Node* producer = graph.Producer(value);
    if (producer == nullptr) return false;
    if (IsOwn(producer, "Dequantize")) return true;
    if (!IsLookedThrough(*producer)) return false;
    value = producer->input(0);
  }
  return false;
}

// Whether the float value, moved or clamped, is quantized and read by nothing else.
bool IsOnlyQuantized(const Graph& graph, ValueId value) {
  std::vector<ValueId> met = {value};
  for (size_t at = 0; at < met.size(); ++at) {
    const auto consumers = graph.Consumers(met[at]);
    if (consumers.empty()) return false;
    for (const NodeId id : consumers) {
      const Node& node = graph.node(id);
      if (IsOwn(&node, "Quantize")) continue;
      if (!IsLookedThrough(node) || met.size() == kMaxValues) return false;
      met.push_back(node.results[0]);
    }
  }
  return true;
}

bool HasFloatParameters(const Graph& graph, const Node& node) {
  if (ComputesIntegers(graph, node) || !node.results[0]) return false;
  return (IsFloatConstant(graph, node.input(1)) || IsFloatConstant(graph, node.input(2))) &&
         FollowsFromIntegers(graph, node.input(0)) && IsOnlyQuantized(graph, node.results[0]);
}

// Whether a Gemm is a MatMul, and a vector that is added; true for a MatMul.
bool IsPlainProduct(const Graph& graph, const Node& node) {
  const ValueId bias = node.input(2);
  if (bias && (graph.type(bias).shape.size() != 1 || node.attributes.Float("beta", 1) != 1)) {
    return false;
  }
  return node.attributes.Float("alpha", 1) == 1 && node.attributes.Int("transA", 0) == 0;
}

bool HasDequantizedWeights(const Graph& graph, const Node& node) {
  if (ComputesIntegers(graph, node) || QuantizedOperand(graph, node, 0) != nullptr) return false;
  const ValueId real = node.input(1), weights = QuantizedSource(graph, node, 1);
  if (!weights || real == weights || !graph.IsConstant(weights)) return false;
  const Type& type = graph.type(weights);
  // Another consumer of the dequantized weights keeps them in the model.
  if (type.shape.size() != 2 || ir::SizeOf(type.dtype) != 1 || graph.CountUses(weights) != 1 ||
      graph.CountUses(real) != 1) {
    return false;
  }
  const int outputs = node.attributes.Int("transB", 0) != 0 ? 0 : 1;
  if (type.blocked() ? *type.quant->axis == outputs : outputs == 0) return false;
  if (!type.blocked() && type.quant->axis && *type.quant->axis != 1) return false;
  // The runtime takes a clamp for a part of the operator, and finds no QuantizeLinear after it.
  const auto consumers = graph.Consumers(node.results[0]);
  if (consumers.size() == 1 && graph.node(consumers.front()).op->clamps) return false;
  return IsPlainProduct(graph, node) && QuantizedResult(graph, node) == nullptr;
}

bool HasPerChannelActivation(const Graph& graph, const Node& node) {
  if (HasChannels(QuantizedResult(graph, node))) return true;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || graph.IsConstant(node.inputs[i])) continue;
    if (HasChannels(QuantizedOperand(graph, node, i))) return true;
  }
  return false;
}

bool MayBeNegative(const Type& type) {
  const ir::IntegerRange limits = ir::IntegerRangeOf(type.dtype);
  return std::ranges::any_of(type.quant->zero_points,
                             [&](int32_t zero) { return zero > limits.min; });
}

// Of a quantized operand, others are not looked at; a constant is read.
bool MayBeZero(const Graph& graph, ValueId value) {
  if (!value || !graph.type(value).quantized()) return false;
  const ir::PayloadPtr& constant = graph.value(value).constant;
  const Type& type = graph.type(value);
  if (!constant || !type.quant->per_tensor()) return true;
  const ir::Tensor& tensor = constant->tensor;
  const auto holds = [&](auto values) {
    return std::ranges::any_of(values, [&](auto each) { return each == type.quant->zero_point(); });
  };
  switch (type.dtype) {
    case ir::DType::kU8:
      return holds(tensor.values<uint8_t>());
    case ir::DType::kI8:
      return holds(tensor.values<int8_t>());
    default:
      return true;
  }
}

bool IsFloat32(const Graph& graph, ValueId value) {
  return value && graph.type(value).dtype == ir::DType::kF32 && !graph.type(value).quantized();
}

// Whether the node computes such a sum: in float, of its only operand that is no parameter.
bool IsFloatSum(const Graph& graph, const Node& node, const Quirk& quirk) {
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && node.op->RoleOf(i) != ir::Role::kParameter) return false;
  }
  return std::ranges::find(quirk.ops, node.op->name) != quirk.ops.end() && node.input(0) &&
         !graph.IsConstant(node.input(0)) && IsFloat32(graph, node.results[0]);
}

// Whether the value follows from a sum by float ops, or is one.
bool FollowsFromSum(const Graph& graph, ValueId value, const Quirk& quirk) {
  std::vector<ValueId> met = {value};
  for (size_t at = 0; at < met.size(); ++at) {
    const Node* node = graph.Producer(met[at]);
    if (node == nullptr || !IsFloat32(graph, met[at])) continue;
    if (IsFloatSum(graph, *node, quirk)) return true;
    for (const ValueId input : node->inputs) {
      if (!input || met.size() == kMaxValues) continue;
      if (std::ranges::find(met, input) == met.end()) met.push_back(input);
    }
  }
  return false;
}

// Whether float ops compute the difference of two sums from the value, which is one of them.
bool ReachesDifference(const Graph& graph, ValueId value, const Quirk& quirk) {
  std::vector<ValueId> met = {value};
  for (size_t at = 0; at < met.size(); ++at) {
    for (const NodeId id : graph.Consumers(met[at])) {
      const Node& node = graph.node(id);
      if (!IsFloat32(graph, node.results[0])) continue;
      if (node.op->name == "Sub" && FollowsFromSum(graph, node.input(0), quirk) &&
          FollowsFromSum(graph, node.input(1), quirk)) {
        return true;
      }
      const bool full = met.size() == kMaxValues;
      if (!full && std::ranges::find(met, node.results[0]) == met.end()) {
        met.push_back(node.results[0]);
      }
    }
  }
  return false;
}

}  // namespace

bool QuirkFinder::Meets(const Quirk& quirk, NodeId id) const {
  const Node& node = graph_.node(id);
  if (!node.op->domain.empty() && node.op->domain != "octavo") return false;
  if (std::ranges::find(quirk.ops, node.op->name) == quirk.ops.end()) return false;
  const Type* operand = QuantizedOperand(graph_, node, 0);
  const bool quantized = ComputesIntegers(graph_, node);
  switch (quirk.when) {
    case QuirkCondition::kAlways:
      return quantized;
    case QuirkCondition::kOpsetBelow:
      return static_cast<double>(opset_) < quirk.limit && operand != nullptr &&
             ir::SizeOf(operand->dtype) == 1;
    case QuirkCondition::kFineResultScale:
      return operand != nullptr && HasFineScale(graph_, node, quirk.limit);
    case QuirkCondition::kInexactReciprocal:
      return operand != nullptr && HasInexactReciprocal(graph_, node, quirk.limit);
    case QuirkCondition::kDilated:
      return operand != nullptr && IsDilated(node) && QuantizedResult(graph_, node) != nullptr;
    case QuirkCondition::kCeilCountsPadding:
      return operand != nullptr && QuantizedResult(graph_, node) != nullptr &&
             node.attributes.Int("ceil_mode", 0) != 0 &&
             node.attributes.Int("count_include_pad", 0) != 0;
    case QuirkCondition::kCeilCountsWindow:
      return ExplicitPads(graph_, node).has_value();
    case QuirkCondition::kBiasOfAnotherScale:
      return HasBiasOfAnotherScale(graph_, node);
    case QuirkCondition::kFloatParameters:
      return HasFloatParameters(graph_, node);
    case QuirkCondition::kDequantizedWeights:
      return HasDequantizedWeights(graph_, node);
    case QuirkCondition::kEqualDTypes:
      return operand != nullptr && node.results[0] &&
             operand->dtype == graph_.type(node.results[0]).dtype;
    case QuirkCondition::kPerChannelActivation:
      return HasPerChannelActivation(graph_, node);
    case QuirkCondition::kComputedOperand:
      return node.input(0) && !graph_.IsConstant(node.input(0));
    case QuirkCondition::kNegativeOperand:
      return quantized && operand != nullptr && MayBeNegative(*operand);
    case QuirkCondition::kZeroDivisor:
      return quantized && MayBeZero(graph_, node.input(1));
    case QuirkCondition::kDifferenceOfSums:
      return IsFloatSum(graph_, node, quirk) && ReachesDifference(graph_, node.results[0], quirk);
    case QuirkCondition::kOddZeroPoint:
      return operand != nullptr && HasOddZeroPoint(QuantizedResult(graph_, node));
  }
  return false;
}

std::vector<const Quirk*> QuirkFinder::At(NodeId id) const {
  std::vector<const Quirk*> met;
  for (const Quirk& quirk : quirks_) {
    if (Meets(quirk, id)) met.push_back(&quirk);
  }
  return met;
}

bool QuirkFinder::NeedsBeforeQuantize(NodeId id, QuirkRemedy remedy) const {
  const auto needs = [&](NodeId each, bool at_a_distance) {
    return std::ranges::any_of(At(each), [&](const Quirk* quirk) {
      if (at_a_distance && quirk->when != QuirkCondition::kFloatParameters) return false;
      // A bias that does not fit leaves only to keep the operator from being fused.
      const bool no_bias = quirk->instead == QuirkRemedy::kBiasPerChannel &&
                           !BiasPerChannel(graph_, graph_.node(each));
      return (no_bias ? QuirkRemedy::kUnfuse : quirk->instead) == remedy;
    });
  };
  if (needs(id, false)) return true;
  const Node& node = graph_.node(id);
  if (!IsOwn(&node, "Quantize")) return false;
  ValueId source = node.input(0);
  for (size_t step = 0; source && step < kMaxValues; ++step) {
    const NodeId producer = graph_.value(source).producer;
    if (!producer) return false;
    if (needs(producer, step > 0)) return true;
    const Node& before = graph_.node(producer);
    if (!IsLookedThrough(before)) return false;
    source = before.input(0);
  }
  return false;
}

std::optional<ChannelBias> BiasPerChannel(const Graph& graph, const Node& node) {
  if (!HasBiasOfAnotherScale(graph, node)) return std::nullopt;
  const ValueId bias = QuantizedSource(graph, node, 2);
  const Type& type = graph.type(bias);
  const ir::Quant& x = *QuantizedOperand(graph, node, 0)->quant;
  const ir::Quant& w = *QuantizedOperand(graph, node, 1)->quant;
  const auto channels = static_cast<int64_t>(w.scales.size());
  const auto stored = graph.value(bias).constant->tensor.values<int32_t>();
  if (type.elements() != 1 && type.elements() != channels) return std::nullopt;
  ChannelBias result{.integers = ir::Tensor(ir::DType::kI32, {channels}),
                     .scales = ir::Tensor(ir::DType::kF32, {channels})};
  for (int64_t c = 0; c < channels; ++c) {
    const size_t at = type.elements() == 1 ? 0 : static_cast<size_t>(c);
    const float old_scale = type.quant->scale(type.quant->scales.size() == 1 ? 0 : c);
    const float scale = x.scale() * w.scale(c);
    const double integer = std::nearbyint(static_cast<double>(stored[at]) * old_scale / scale);
    // Not a number where the product of the scales is 0.
    if (!(std::abs(integer) <= std::numeric_limits<int32_t>::max())) return std::nullopt;
    result.integers.mutable_values<int32_t>()[static_cast<size_t>(c)] =
        static_cast<int32_t>(integer);
    result.scales.mutable_values<float>()[static_cast<size_t>(c)] = scale;
  }
  return result;
}

std::optional<std::vector<int64_t>> ExplicitPads(const Graph& graph, const Node& node) {
  const ValueId data = node.input(0);
  if (!data || node.attributes.Int("ceil_mode", 0) == 0) return std::nullopt;
  const auto window = ops::WindowOf(node, graph.type(data).shape);
  if (!window) return std::nullopt;
  std::vector<int64_t> pads = window->pads_begin;
  bool dropped = false;
  for (size_t d = 0; d < window->axes(); ++d) {
    const int64_t extent = (window->kernel[d] - 1) * window->dilations[d] + 1;
    const int64_t before = window->in[d] + window->pads_begin[d];
    const int64_t begin_of_next = window->out[d] * window->strides[d];
    dropped |= begin_of_next - window->strides[d] + extent < before + window->pads_end[d] &&
               begin_of_next >= before;
    // Where the last window ends, and where the next one would.
    const int64_t least = begin_of_next - window->strides[d] + extent - before;
    const int64_t most = begin_of_next + extent - before - 1;
    const bool counts = node.attributes.Int("count_include_pad", 0) != 0;
    if (least > window->pads_end[d] && counts) return std::nullopt;  // another divisor
    pads.push_back(std::clamp(window->pads_end[d], std::max<int64_t>(least, 0), most));
  }
  if (!dropped) return std::nullopt;
  return pads;
}

}  // namespace octavo::onnx
