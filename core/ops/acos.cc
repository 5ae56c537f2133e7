// Acos(x): arc cosine, element by element; NaN outside of [-1, 1].
#include <cmath>

#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

// The half angle formula keeps its digits near 1, where pi/2 - asin(x) would cancel.
double ArcCosine(double x) { return 2 * math::Atan(std::sqrt((1 - x) / (1 + x))); }

Status Reference(const ir::EvalContext& context) { return FloatUnary(context, &ArcCosine); }

}  // namespace

extern constexpr ir::OpDef kAcos{
    .name = "Acos",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
