// HardSigmoid(x): clip(alpha * x + beta, 0, 1), element by element.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"alpha", ir::AttrKind::kFloat},
                                        {"beta", ir::AttrKind::kFloat}};

Status Reference(const ir::EvalContext& context) {
  const float alpha = context.node.attributes.Float("alpha", 0.2f);
  const float beta = context.node.attributes.Float("beta", 0.5f);
  return NumericUnary(context, [=](auto x) {
    const float y = alpha * static_cast<float>(x) + beta;
    return y < 0.0f ? 0.0f : y > 1.0f ? 1.0f : y;
  });
}

}  // namespace

extern constexpr ir::OpDef kHardSigmoid{
    .name = "HardSigmoid",
    .attributes = kAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kFixed, .why = {}, .range = {0, 1}},
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
