// Ceil(x): the smallest integer not below, element by element.
#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, [](auto x) { return std::ceil(x); });
}

}  // namespace

extern constexpr ir::OpDef kCeil{
    .name = "Ceil",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
