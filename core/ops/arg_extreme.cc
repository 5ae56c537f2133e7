#include "core/ops/arg_extreme.h"

namespace octavo::ops {

Status InferArg(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", 0),
                                         static_cast<int>(shape.size())));
  if (shape[axis] == 0) return context.Invalid("axis {} has no element", axis);
  if (context.node().attributes.Int("keepdims", 1) != 0) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  context.SetResult(0, ir::DType::kI64, std::move(shape));
  return {};
}

}  // namespace octavo::ops
