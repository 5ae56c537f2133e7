// Exp(x): e^x, element by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](auto x) { return math::Exp(x); });
}

}  // namespace

extern constexpr ir::OpDef kExp{
    .name = "Exp",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
