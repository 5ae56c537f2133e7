// Reciprocal(x): 1 / x, element by element.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, [](auto x) { return decltype(x)(1) / x; });
}

}  // namespace

extern constexpr ir::OpDef kReciprocal{
    .name = "Reciprocal",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
