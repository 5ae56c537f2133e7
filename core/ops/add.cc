// Add(a, b): the sum, element by element over the broadcast of both.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericBinary(context, [](auto a, auto b) { return a + b; });
}

}  // namespace

extern constexpr ir::OpDef kAdd{
    .name = "Add",
    .inputs = {2, 2},
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericBinary,
    .reference = &Reference,
    .commutative = true,
    .sums = true,
};

}  // namespace octavo::ops
