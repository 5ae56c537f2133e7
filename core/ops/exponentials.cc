// SPDX-License-Identifier: Apache-2.0
// Exponential, logarithm, root, reciprocal and error function, element by element.
#include <cmath>

#include "core/base/math.h"
#include "core/base/math_each.h"
#include "core/ops/shared/pointwise.h"

namespace octavo::ops {

using ir::OpDef;
using ir::Since;

extern constexpr OpDef kExp = Pointwise<&math::ExpEach>("Exp", Since(1));
extern constexpr OpDef kLog = Pointwise<&math::Log>("Log", Since(1));
extern constexpr OpDef kSqrt =
    PointwiseInType("Sqrt", Since(1), [](auto x) { return std::sqrt(x); });
extern constexpr OpDef kReciprocal =
    PointwiseInType("Reciprocal", Since(1), [](auto x) { return decltype(x)(1) / x; });
extern constexpr OpDef kErf =
    Pointwise<&math::ErfEach>("Erf", Since(9), {.quant = FixedRange(-1, 1)});

}  // namespace octavo::ops
