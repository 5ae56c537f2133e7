// SPDX-License-Identifier: Apache-2.0
// PRelu(x, slope): x for x >= 0, else slope * x; slope broadcasts to x.
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  if (context.dtype(1) != context.dtype(0)) {
    return context.Invalid("x is {} and slope is {}, but both must have one type",
                           Name(context.dtype(0)), Name(context.dtype(1)));
  }
  const auto shape = Broadcast(context.shape(0), context.shape(1));
  if (!shape || *shape != context.shape(0)) {
    return context.Invalid("slope of shape {} does not broadcast to {}",
                           ir::ToString(context.shape(1)), ir::ToString(context.shape(0)));
  }
  return InferNumericUnary(context);
}

Status Definition(const ir::EvalContext& context) {
  return NumericBinary(context, [](auto x, auto slope) {
    return x < decltype(x)(0) ? static_cast<decltype(x)>(x * slope) : x;
  });
}

}  // namespace

extern constexpr ir::OpDef kPRelu{
    .name = "PRelu",
    .since = ir::Since(1),
    .inputs = {2, 2},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
