#include "core/ops/comparison.h"

namespace octavo::ops {

Status InferComparison(ir::InferContext& context) {
  if (context.dtype(0) != context.dtype(1)) {
    return context.Invalid("operands are {} and {}, but must have one type", Name(context.dtype(0)),
                           Name(context.dtype(1)));
  }
  const auto shape = Broadcast(context.shape(0), context.shape(1));
  if (!shape) {
    return context.Invalid("shapes {} and {} do not broadcast", ir::ToString(context.shape(0)),
                           ir::ToString(context.shape(1)));
  }
  context.SetResult(0, ir::DType::kBool, *shape);
  return {};
}

Status InferLogic(ir::InferContext& context) {
  if (context.dtype(0) != ir::DType::kBool) {
    return context.Invalid("operand is {}, but must be bool", Name(context.dtype(0)));
  }
  return InferComparison(context);
}

}  // namespace octavo::ops
