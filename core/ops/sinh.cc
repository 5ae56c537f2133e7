// Sinh(x): hyperbolic sine, element by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](double x) { return math::Sinh(x); });
}

}  // namespace

extern constexpr ir::OpDef kSinh{
    .name = "Sinh",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
