// DynamicQuantizeLinear(x): u8 codes of x with a scale and zero point from x's own range, for
// models that were quantized elsewhere.
#include "core/ops/data_op.h"
#include "core/ops/quantize_math.h"

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

Status Reference(const ir::EvalContext& context) {
  const auto x = context.in(0).values<float>();
  float min = 0, max = 0;
  for (const float value : x) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  const ir::CodeRange codes = ir::CodesOf(ir::DType::kU8);
  const float scale = max == min ? 1.0f : (max - min) / 255.0f;
  const int32_t zero_point = QuantizeOne(-min, scale, 0, codes);
  const auto to = context.out(0).mutable_values<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<uint8_t>(QuantizeOne(x[i], scale, zero_point, codes));
  }
  context.out(1).mutable_values<float>()[0] = scale;
  context.out(2).mutable_values<uint8_t>()[0] = static_cast<uint8_t>(zero_point);
  return {};
}

}  // namespace

extern constexpr ir::OpDef kDynamicQuantizeLinear{
    .name = "DynamicQuantizeLinear",
    .results = {3, 3},
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why = "it makes codes of its own at run time"},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
