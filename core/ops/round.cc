// Round(x): the nearest integer, ties to even, element by element.
#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, [](auto x) { return std::nearbyint(x); });
}

}  // namespace

extern constexpr ir::OpDef kRound{
    .name = "Round",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
