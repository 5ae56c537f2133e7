// Tanh(x): hyperbolic tangent, element by element.
#include "core/base/math_each.h"
#include "core/ops/unary_blocks.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnaryBlocks(context, &math::TanhEach);
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
