// Sigmoid(x): 1 / (1 + e^-x), element by element.
#include "core/base/math_each.h"
#include "core/ops/unary_blocks.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnaryBlocks(context, &math::SigmoidEach);
}

}  // namespace

extern constexpr ir::OpDef kSigmoid{
    .name = "Sigmoid",
    .quant = {.kind = ir::QuantRule::Kind::kFixed, .why = {}, .range = {0, 1}},
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
