// Reinterpret(x): plain integers read as codes of the type of the result, bits unchanged.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  if (!ir::IsInteger(context.dtype(0))) {
    return context.Invalid("operand is {}, but must be an integer", Name(context.dtype(0)));
  }
  context.SetResult(0, ir::DType::kF32, context.shape(0));
  return {};
}

// The reals of plain integers: a scale of 1 and a zero point of 0 read them; the executor stores
// the bits as they are.
Status Reference(const ir::EvalContext& context) {
  const std::span<float> to = context.out().mutable_values<float>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<float>(context.in(0).IntAt(static_cast<int64_t>(i)));
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kReinterpret{
    .name = "Reinterpret",
    .domain = "octavo",
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kFree, .why = {}},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
