// BitwiseNot(x): the complement of integers, element by element.
#include "core/ops/integer_op.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const auto from = context.in(0).values<T>();
      const auto to = context.out().mutable_values<T>();
      for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(~from[i]);
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kBitwiseNot{
    .name = "BitwiseNot",
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &InferIntegers,
    .reference = &Reference,
};

}  // namespace octavo::ops
