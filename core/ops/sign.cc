// Sign(x): -1, 0 or 1, element by element.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, [](auto x) { return (x > decltype(x)(0)) - (x < decltype(x)(0)); });
}

}  // namespace

extern constexpr ir::OpDef kSign{
    .name = "Sign",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
