// HardSwish(x): x * clip(x / 6 + 1/2, 0, 1), element by element.
#include <algorithm>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](auto x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); });
}

}  // namespace

extern constexpr ir::OpDef kHardSwish{
    .name = "HardSwish",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
