// Min(a, b, ..): the smallest; NaN if one is, element by element over the broadcast of all.
#include "core/ops/variadic.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return Variadic(context, [](auto a, auto b) { return a < b || a != a ? a : b; });
}

}  // namespace

extern constexpr ir::OpDef kMin{
    .name = "Min",
    .inputs = {1, ir::kManyInputs},
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericBinary,
    .reference = &Reference,
    .commutative = true,
};

}  // namespace octavo::ops
