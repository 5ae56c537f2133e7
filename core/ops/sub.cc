// Sub(a, b): the difference, element by element over the broadcast of both.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericBinary(context, [](auto a, auto b) { return a - b; });
}

}  // namespace

extern constexpr ir::OpDef kSub{
    .name = "Sub",
    .inputs = {2, 2},
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericBinary,
    .reference = &Reference,
    .sums = true,
};

}  // namespace octavo::ops
