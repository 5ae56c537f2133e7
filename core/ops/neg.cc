// Neg(x): -x, element by element; the least integer stays as it is.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, []<class T>(T x) {
    if constexpr (std::is_integral_v<T>)
      return Modular<T>(0) - Modular<T>(x);
    else
      return -x;
  });
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
