// Tan(x): tangent, element by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](double x) { return math::Tan(x); });
}

}  // namespace

extern constexpr ir::OpDef kTan{
    .name = "Tan",
    .quant = {.why = "a tangent has no bound, so no scale fits it"},
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
