// Not(x): the opposite of each bool.
#include "core/ops/data_op.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  if (context.dtype(0) != ir::DType::kBool) {
    return context.Invalid("operand is {}, but must be bool", Name(context.dtype(0)));
  }
  return InferSameType(context);
}

Status Reference(const ir::EvalContext& context) {
  const auto from = context.in(0).values<bool>();
  const auto to = context.out().mutable_values<bool>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = !from[i];
  return {};
}

}  // namespace

extern constexpr ir::OpDef kNot{
    .name = "Not",
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
