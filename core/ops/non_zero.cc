// NonZero(x): indices of elements that are not 0.  How many there are depends on data, so its shape
// cannot be inferred and it is refused.
#include "core/ops/data_op.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  return context.Unsupported("the result's shape depends on data");
}

}  // namespace

extern constexpr ir::OpDef kNonZero{
    .name = "NonZero",
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &Infer,
};

}  // namespace octavo::ops
