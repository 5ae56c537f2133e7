// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {

Status InferFloatUnary(ir::InferContext& context) {
  const ir::DType dtype = context.dtype(0);
  if (!ir::IsFloat(dtype)) {
    return context.Invalid("operand is {}, but must be a float type", Name(dtype));
  }
  context.SetResult(0, dtype, context.shape(0));
  return {};
}

Status InferNumericUnary(ir::InferContext& context) {
  const ir::DType dtype = context.dtype(0);
  if (dtype == ir::DType::kBool) {
    return context.Unsupported("operand of type {} is not supported", Name(dtype));
  }
  context.SetResult(0, dtype, context.shape(0));
  return {};
}

Status InferNumericBinary(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (context.dtype(i) != context.dtype(0)) {
      return context.Invalid("operands are {} and {}, but must have one type",
                             Name(context.dtype(0)), Name(context.dtype(i)));
    }
    const auto both = Broadcast(shape, context.shape(i));
    if (!both) {
      return context.Invalid("shapes {} and {} do not broadcast", ir::ToString(shape),
                             ir::ToString(context.shape(i)));
    }
    shape = *both;
  }
  if (context.dtype(0) == ir::DType::kBool) {
    return context.Unsupported("operands of type {} are not supported", Name(context.dtype(0)));
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

}  // namespace octavo::ops
