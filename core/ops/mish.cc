// Mish(x): x * tanh(softplus(x)), element by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](auto x) {
    return x * math::Tanh(x > 0 ? x + math::Log1p(math::Exp(-x)) : math::Log1p(math::Exp(x)));
  });
}

}  // namespace

extern constexpr ir::OpDef kMish{
    .name = "Mish",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
