// Asin(x): arc sine, element by element; NaN outside of [-1, 1].
#include <cmath>

#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

// atan(x / sqrt(1 - x^2)), which is +-pi/2 at the ends, where it divides by 0.
double ArcSine(double x) { return math::Atan(x / std::sqrt((1 - x) * (1 + x))); }

Status Reference(const ir::EvalContext& context) { return FloatUnary(context, &ArcSine); }

}  // namespace

extern constexpr ir::OpDef kAsin{
    .name = "Asin",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
