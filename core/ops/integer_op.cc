#include "core/ops/integer_op.h"

namespace octavo::ops {

Status InferIntegers(ir::InferContext& context) {
  if (!ir::IsInteger(context.dtype(0))) {
    return context.Invalid("operands are {}, but must be integers", Name(context.dtype(0)));
  }
  return InferNumericBinary(context);
}

}  // namespace octavo::ops
