// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear(x): quantizes x to u8 with a scale and zero point from x's own range, for
// models that another tool quantized.
#include "core/ops/quantize_math.h"
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  if (context.dtype(0) != ir::DType::kF32) {
    return context.Invalid("x is {}, but must be f32", Name(context.dtype(0)));
  }
  context.SetResult(0, ir::DType::kU8, context.shape(0));
  context.SetResult(1, ir::DType::kF32, {});
  context.SetResult(2, ir::DType::kU8, {});
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const auto x = context.in(0).values<float>();
  float min = 0, max = 0;
  for (const float value : x) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  const ir::IntegerRange range = ir::IntegerRangeOf(ir::DType::kU8);
  const float scale = max == min ? 1.0f : (max - min) / 255.0f;
  const int32_t zero_point = QuantizeOne(-min, scale, 0, range);
  const auto to = context.out(0).mutable_values<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<uint8_t>(QuantizeOne(x[i], scale, zero_point, range));
  }
  context.out(1).mutable_values<float>()[0] = scale;
  context.out(2).mutable_values<uint8_t>()[0] = static_cast<uint8_t>(zero_point);
  return {};
}

}  // namespace

extern constexpr ir::OpDef kDynamicQuantizeLinear{
    .name = "DynamicQuantizeLinear",
    .since = ir::Since(11),
    .results = {3, 3},
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why = "it chooses its quantization parameters at run time"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
