// Sub(a, b): the difference, element by element over the broadcast of both; integers wrap around.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericBinary(context, []<class T>(T a, T b) { return Modular<T>(a) - Modular<T>(b); });
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
