// Atanh(x): inverse hyperbolic tangent, element by element; NaN outside of [-1, 1].
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](double x) { return 0.5 * math::Log1p(2 * x / (1 - x)); });
}

}  // namespace

extern constexpr ir::OpDef kAtanh{
    .name = "Atanh",
    .quant = {.why = "it has no bound, so no scale fits it"},
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
