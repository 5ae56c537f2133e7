#include "core/ops/border_op.h"

#include <algorithm>

namespace octavo::ops {

Status InferReals(ir::InferContext& context) {
  if (context.dtype(0) != ir::DType::kF32) {
    return context.Invalid("operand is {}, but must be f32 or quantized", Name(context.dtype(0)));
  }
  context.SetResult(0, ir::DType::kF32, context.shape(0));
  return {};
}

Status PassReals(const ir::EvalContext& context) {
  std::ranges::copy(context.in(0).values<float>(), context.out().mutable_values<float>().begin());
  return {};
}

}  // namespace octavo::ops
