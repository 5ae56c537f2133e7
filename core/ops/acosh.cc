// Acosh(x): inverse hyperbolic cosine, element by element; NaN below 1.
#include <cmath>

#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

// log(x + sqrt(x^2 - 1)) in t = x - 1, which keeps its digits near 1.
double AreaCosine(double x) {
  const double t = x - 1;
  return x > 1e150 ? math::Log(x) + 0.6931471805599453 : math::Log1p(t + std::sqrt(t * t + 2 * t));
}

Status Reference(const ir::EvalContext& context) { return FloatUnary(context, &AreaCosine); }

}  // namespace

extern constexpr ir::OpDef kAcosh{
    .name = "Acosh",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
