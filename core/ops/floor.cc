// Floor(x): the largest integer not above, element by element.
#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, [](auto x) { return std::floor(x); });
}

}  // namespace

extern constexpr ir::OpDef kFloor{
    .name = "Floor",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
