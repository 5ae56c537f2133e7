// Tanh(x): hyperbolic tangent, element by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](auto x) { return math::Tanh(x); });
}

}  // namespace

extern constexpr ir::OpDef kTanh{
    .name = "Tanh",
    .quant = {.kind = ir::QuantRule::Kind::kFixed, .why = {}, .range = {-1, 1}},
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
