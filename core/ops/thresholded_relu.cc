// ThresholdedRelu(x): x above alpha, else 0, element by element.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"alpha", ir::AttrKind::kFloat}};

Status Reference(const ir::EvalContext& context) {
  const float alpha = context.node.attributes.Float("alpha", 1.0f);
  return NumericUnary(context, [=](auto x) { return x > alpha ? x : decltype(x)(0); });
}

}  // namespace

extern constexpr ir::OpDef kThresholdedRelu{
    .name = "ThresholdedRelu",
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
