// BitwiseOr(a, b): bitwise or of integers over the broadcast of both.
#include "core/ops/integer_op.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return IntegerBinary(context, [](auto a, auto b) { return a | b; });
}

}  // namespace

extern constexpr ir::OpDef kBitwiseOr{
    .name = "BitwiseOr",
    .inputs = {2, 2},
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &InferIntegers,
    .reference = &Reference,
    .commutative = true,
};

}  // namespace octavo::ops
