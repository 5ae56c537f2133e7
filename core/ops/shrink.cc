// Shrink(x) {lambd, bias}: x + bias below -lambd, x - bias above lambd, 0 between.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"lambd", ir::AttrKind::kFloat},
                                        {"bias", ir::AttrKind::kFloat}};

Status Reference(const ir::EvalContext& context) {
  const double lambd = context.node.attributes.Float("lambd", 0.5f);
  const double bias = context.node.attributes.Float("bias", 0.0f);
  return NumericUnary(context, [=](auto x) {
    const auto value = static_cast<double>(x);
    return FromReal<decltype(x)>(value < -lambd  ? value + bias
                                 : value > lambd ? value - bias
                                                 : 0.0);
  });
}

}  // namespace

extern constexpr ir::OpDef kShrink{
    .name = "Shrink",
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
