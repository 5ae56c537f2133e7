// Relu(x): max(x, 0), element by element.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return NumericUnary(context, [](auto x) { return x < decltype(x)(0) ? decltype(x)(0) : x; });
}

}  // namespace

extern constexpr ir::OpDef kRelu{
    .name = "Relu",
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericUnary,
    .reference = &Reference,
    .clamps = true,
};

}  // namespace octavo::ops
