// Sum(a, b, ..): the sum, element by element over the broadcast of all; integers wrap around.
#include "core/ops/variadic.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return Variadic(context, []<class T>(T a, T b) { return Modular<T>(a) + Modular<T>(b); });
}

}  // namespace

extern constexpr ir::OpDef kSum{
    .name = "Sum",
    .inputs = {1, ir::kManyInputs},
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericBinary,
    .reference = &Reference,
    .commutative = true,
};

}  // namespace octavo::ops
