// LeakyRelu(x): x, or alpha * x below 0, element by element.
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"alpha", ir::AttrKind::kFloat}};

Status Reference(const ir::EvalContext& context) {
  const float alpha = context.node.attributes.Float("alpha", 0.01f);
  return NumericUnary(context, [=](auto x) {
    return x < decltype(x)(0) ? static_cast<decltype(x)>(alpha * x) : x;
  });
}

}  // namespace

extern constexpr ir::OpDef kLeakyRelu{
    .name = "LeakyRelu",
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
