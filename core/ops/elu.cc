// Elu(x): x, or alpha * (e^x - 1) below 0, element by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"alpha", ir::AttrKind::kFloat}};

Status Reference(const ir::EvalContext& context) {
  const double alpha = context.node.attributes.Float("alpha", 1.0f);
  return FloatUnary(context, [=](double x) { return x < 0 ? alpha * math::Expm1(x) : x; });
}

}  // namespace

extern constexpr ir::OpDef kElu{
    .name = "Elu",
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
