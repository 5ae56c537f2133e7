// Sin(x): sine, element by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](auto x) { return math::Sin(x); });
}

}  // namespace

extern constexpr ir::OpDef kSin{
    .name = "Sin",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
