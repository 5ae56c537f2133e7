// Asinh(x): inverse hyperbolic sine, element by element.
#include <cmath>

#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

// log(a + sqrt(a^2 + 1)) for a = |x|, without losing what is small; above 1e150 a^2 would overflow.
double AreaSine(double x) {
  const double a = std::abs(x);
  const double y = a > 1e150 ? math::Log(a) + 0.6931471805599453
                             : math::Log1p(a + a * a / (1 + std::sqrt(a * a + 1)));
  return std::copysign(y, x);
}

Status Reference(const ir::EvalContext& context) { return FloatUnary(context, &AreaSine); }

}  // namespace

extern constexpr ir::OpDef kAsinh{
    .name = "Asinh",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
