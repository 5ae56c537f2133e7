// Softsign(x): x / (1 + |x|), element by element.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return FloatUnary(context, [](auto x) { return x / (1 + (x < 0 ? -x : x)); });
}

}  // namespace

extern constexpr ir::OpDef kSoftsign{
    .name = "Softsign",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
