// SPDX-License-Identifier: Apache-2.0
// Circular and hyperbolic functions and their inverses, element by element.
#include <cmath>

#include "core/base/math.h"
#include "core/base/math_each.h"
#include "core/ops/shared/pointwise.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr double kLn2 = 0.6931471805599453;

// atan(x / sqrt(1 - x^2)): +-pi/2 at the ends, where the quotient is infinite; NaN outside of
// [-1, 1].
double ArcSine(double x) { return math::Atan(x / std::sqrt((1 - x) * (1 + x))); }

// The half-angle formula is accurate near 1, where pi/2 - asin(x) would cancel.
double ArcCosine(double x) { return 2 * math::Atan(std::sqrt((1 - x) / (1 + x))); }

// log(a + sqrt(a^2 + 1)) for a = |x|, without losing small terms; above 1e150, a^2 would overflow.
double AreaSine(double x) {
  const double a = std::abs(x);
  const double y =
      a > 1e150 ? math::Log(a) + kLn2 : math::Log1p(a + a * a / (1 + std::sqrt(a * a + 1)));
  return std::copysign(y, x);
}

// log(x + sqrt(x^2 - 1)), computed from t = x - 1, which is accurate near 1; NaN below 1.
double AreaCosine(double x) {
  const double t = x - 1;
  return x > 1e150 ? math::Log(x) + kLn2 : math::Log1p(t + std::sqrt(t * t + 2 * t));
}

// NaN outside of [-1, 1].
double AreaTangent(double x) { return 0.5 * math::Log1p(2 * x / (1 - x)); }

constexpr ir::QuantRule kUnbounded{.why = "its result is unbounded, so no scale fits it"};

}  // namespace

extern constexpr OpDef kSin = Pointwise<&math::Sin>("Sin", Since(7));
extern constexpr OpDef kCos = Pointwise<&math::Cos>("Cos", Since(7));
extern constexpr OpDef kTan = Pointwise<&math::Tan>("Tan", Since(7), {.quant = kUnbounded});
extern constexpr OpDef kAsin = Pointwise<&ArcSine>("Asin", Since(7));
extern constexpr OpDef kAcos = Pointwise<&ArcCosine>("Acos", Since(7));
extern constexpr OpDef kAtan = Pointwise<&math::Atan>("Atan", Since(7));

extern constexpr OpDef kSinh = Pointwise<&math::Sinh>("Sinh", Since(9));
extern constexpr OpDef kCosh = Pointwise<&math::Cosh>("Cosh", Since(9));
extern constexpr OpDef kTanh =
    Pointwise<&math::TanhEach>("Tanh", Since(1), {.quant = FixedRange(-1, 1)});
extern constexpr OpDef kAsinh = Pointwise<&AreaSine>("Asinh", Since(9));
extern constexpr OpDef kAcosh = Pointwise<&AreaCosine>("Acosh", Since(9));
extern constexpr OpDef kAtanh = Pointwise<&AreaTangent>("Atanh", Since(9), {.quant = kUnbounded});

}  // namespace octavo::ops
