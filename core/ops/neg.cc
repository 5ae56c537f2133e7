// Neg(x): -x, element by element.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, [](auto x) { return -x; });
}

}  // namespace

extern constexpr ir::OpDef kNeg{
    .name = "Neg",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
