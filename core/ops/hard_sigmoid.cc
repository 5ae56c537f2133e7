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
    using Real = std::conditional_t<std::is_same_v<decltype(x), double>, double, float>;
    const Real y = alpha * static_cast<Real>(x) + beta;
    return y < 0 ? Real(0) : y > 1 ? Real(1) : y;
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
