// Abs(x): |x|, element by element; the least integer stays as it is.
#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, []<class T>(T x) {
    if constexpr (std::is_integral_v<T>)
      return x < T(0) ? Modular<T>(0) - Modular<T>(x) : Modular<T>(x);
    else
      return std::fabs(x);
  });
}

}  // namespace

extern constexpr ir::OpDef kAbs{
    .name = "Abs",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
