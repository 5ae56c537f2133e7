// IsNaN(x): whether each element is no number.
#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  context.SetResult(0, ir::DType::kBool, context.shape(0));
  return {};
}

Status Reference(const ir::EvalContext& context) {
  const auto to = context.out().mutable_values<bool>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = std::isnan(context.in(0).FloatAt(static_cast<int64_t>(i)));
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kIsNaN{
    .name = "IsNaN",
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
