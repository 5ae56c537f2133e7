// SPDX-License-Identifier: Apache-2.0
// Octavo's own ops between real and quantized values.  On expressed types, where a quantized value
// is f32, they copy their operand; the types of operand and result determine the rounding.
#include <algorithm>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

using ir::OpDef;

Status InferPass(ir::InferContext& context) {
  if (context.dtype(0) != ir::DType::kF32) {
    return context.Invalid("operand is {}, but must be f32 or quantized", Name(context.dtype(0)));
  }
  context.SetResult(0, ir::DType::kF32, context.shape(0));
  return {};
}

Status Pass(const ir::EvalContext& context) {
  std::ranges::copy(context.in(0).values<float>(), context.out().mutable_values<float>().begin());
  return {};
}

Status InferReinterpret(ir::InferContext& context) {
  if (!ir::IsInteger(context.dtype(0))) {
    return context.Invalid("operand is {}, but must be an integer", Name(context.dtype(0)));
  }
  context.SetResult(0, ir::DType::kF32, context.shape(0));
  return {};
}

// Converts an integer to its real value under scale 1 and zero point 0; the executor stores the
// bits unchanged.
Status Reinterpret(const ir::EvalContext& context) {
  const std::span<float> to = context.out().mutable_values<float>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<float>(context.in(0).IntAt(static_cast<int64_t>(i)));
  }
  return {};
}

constexpr OpDef PassRow(std::string_view name, const ir::RescaleRule& rescale) {
  return {.name = name,
          .domain = "octavo",
          .since = ir::kNotInOnnx,
          .quant = kFreeResult,
          .rescale = rescale,
          .infer = &InferPass,
          .definition = &Pass};
}

constexpr OpDef Pointwise(OpDef row) {
  row.pointwise = true;
  return row;
}

}  // namespace

// Quantize(x): converts real values to the result's quantized type.
extern constexpr OpDef kQuantize =
    PassRow("Quantize", {.at_output = ir::RescaleRule::AtOutput::kFold});
// Dequantize(q): converts quantized values to real values, by q's type.
extern constexpr OpDef kDequantize =
    PassRow("Dequantize", {.at_input = ir::RescaleRule::AtInput::kFold});
// Rescale(q): Quantize(Dequantize(q)), from one quantized type to another.
extern constexpr OpDef kRescale = Pointwise(PassRow("Rescale", {}));
// Reinterpret(x): interprets integers as quantized values of the result's type, bits unchanged.
extern constexpr OpDef kReinterpret{
    .name = "Reinterpret",
    .domain = "octavo",
    .since = ir::kNotInOnnx,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = kFreeResult,
    .infer = &InferReinterpret,
    .definition = &Reinterpret,
};

}  // namespace octavo::ops
