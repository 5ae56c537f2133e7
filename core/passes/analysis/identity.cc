// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/identity.h"

#include <algorithm>
#include <cmath>

#include "core/numerics/mode.h"
#include "core/ops/quantize_math.h"
#include "core/passes/analysis/type_range.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;
using numerics::Mode;

bool OtherResultsUnused(const Graph& graph, const Node& node) {
  for (size_t i = 1; i < node.results.size(); ++i) {
    if (graph.CountUses(node.results[i]) > 0) return false;
  }
  return true;
}

// Whether the second operand is a float constant whose elements all equal `neutral`, including the
// sign of zero: x + 0 turns -0 into 0; x + -0 is x.
bool SecondIsNeutral(const Graph& graph, const Node& node, float neutral) {
  if (node.inputs.size() != 2 || graph.type(node.input(0)).quantized()) return false;
  const ir::Tensor* tensor = ConstantOf(graph, node.input(1));
  if (tensor == nullptr || tensor->dtype() != ir::DType::kF32) return false;
  return std::ranges::all_of(tensor->values<float>(), [&](float x) {
    return x == neutral && std::signbit(x) == std::signbit(neutral);
  });
}

// The stored elements of the second operand if it is a constant; a pending constant is rounded in
// the mode.
std::optional<ir::Tensor> SecondConstant(const Graph& graph, const Node& node, const Mode& mode) {
  if (node.inputs.size() != 2) return std::nullopt;
  const Node* quantize = graph.Producer(node.input(1));
  const bool pending = IsOwn(quantize, "Quantize");
  const ir::PayloadPtr& payload =
      graph.value(pending ? quantize->inputs[0] : node.input(1)).constant;
  if (payload == nullptr || payload->tensor.size() == 0) return std::nullopt;
  const ir::Type& type = graph.type(node.input(1));
  if (pending) return ops::QuantizeTensor(mode.quantize, payload->tensor, type);
  return payload->tensor.Clone();
}

// Whether every element of the second operand is at or beyond the end of the first operand's
// possible values, upwards (+1) or downwards (-1).
bool SecondIsOutside(const Graph& graph, const Node& node, int direction, const Mode& mode) {
  const ir::Type& type = graph.type(node.input(0));
  if (!type.quantized() || !type.quant->per_tensor()) return false;
  const std::optional<ir::Tensor> second = SecondConstant(graph, node, mode);
  const ir::Type& other = second ? graph.type(node.input(1)) : type;
  if (!second || !other.quantized() || !other.quant->per_tensor()) return false;
  const ir::IntegerRange range = PossibleValues(type, 0, mode);
  const int64_t end = direction > 0 ? range.max : range.min;
  const numerics::ChannelQuant from = {other.quant->scale(), other.quant->zero_point()};
  const numerics::ChannelQuant to = {type.quant->scale(), type.quant->zero_point()};
  const numerics::RescaleFormula rescale = mode.rescale(from, to);
  if (!rescale) return false;
  const float end_real = ops::DequantizeOne(static_cast<int32_t>(end), to.scale, to.zero_point);
  for (int64_t i = 0; i < second->size(); ++i) {
    const int64_t code = second->IntAt(i);
    double past = 0;
    // The mode compares both operands either as real values, whose order no rounding changes, or
    // after rescaling the second one to the first one's type.
    if (mode.rescale_is_quantize_of_dequantize) {
      past = double{ops::DequantizeOne(static_cast<int32_t>(code), from.scale, from.zero_point)} -
             double{end_real};
    } else {
      const ir::IntegerRange most = ir::IntegerRangeOf(type.dtype);
      past = static_cast<double>(std::clamp(rescale(code), most.min, most.max) - end);
    }
    if (past * direction < 0) return false;
  }
  return true;
}

// The operand that equals the node's result, according to the op's row.
ValueId IdentityOf(const Graph& graph, const Node& node, const Mode& mode) {
  const ir::OpDef& op = *node.op;
  const int input = op.identity_of ? op.identity_of(graph, node) : -1;
  if (input >= 0) return node.input(static_cast<size_t>(input));
  if (!op.neutral) return {};
  // For Max and Min, quantized values also have a neutral element: the end of their range.
  const bool is_neutral = SecondIsNeutral(graph, node, *op.neutral) ||
                          (op.moves_data == ir::Movement::kSelect &&
                           SecondIsOutside(graph, node, *op.neutral < 0 ? -1 : +1, mode));
  return is_neutral ? node.input(0) : ValueId{};
}

ir::DType ExpressedDType(const ir::Type& type) {
  return type.quantized() ? ir::DType::kF32 : type.dtype;
}

}  // namespace

ValueId RealIdentityOperand(const Graph& graph, const Node& node, const Mode& mode) {
  const ValueId operand = IdentityOf(graph, node, mode);
  if (!operand || !OtherResultsUnused(graph, node)) return {};
  const ir::Type &from = graph.type(operand), &to = graph.type(node.result());
  return ExpressedDType(from) == ExpressedDType(to) && from.shape == to.shape ? operand : ValueId{};
}

ValueId IdentityOperand(const Graph& graph, const Node& node, const Mode& mode) {
  const ValueId operand = RealIdentityOperand(graph, node, mode);
  if (!operand) return {};
  return graph.type(operand).SameQuantization(graph.type(node.result())) ? operand : ValueId{};
}

Effect EffectOfIdentity(const Graph& graph, const Node& node) {
  const bool quantized = graph.type(node.result()).quantized();
  return Is(node, "AveragePool") && !quantized ? Effect::kRealExact : Effect::kExact;
}

}  // namespace octavo::passes
