// Sqrt(x): square root, element by element.
#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, [](auto x) { return std::sqrt(x); });
}

}  // namespace

extern constexpr ir::OpDef kSqrt{
    .name = "Sqrt",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
