// Exp(x): e^x, element by element.
#include "core/base/math_each.h"
#include "core/ops/unary_blocks.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnaryBlocks(context, &math::ExpEach);
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
