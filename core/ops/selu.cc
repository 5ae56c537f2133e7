// Selu(x): gamma * x, or gamma * alpha * (e^x - 1) below 0, element by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"alpha", ir::AttrKind::kFloat},
                                        {"gamma", ir::AttrKind::kFloat}};

Status Reference(const ir::EvalContext& context) {
  const double alpha = context.node.attributes.Float("alpha", 1.67326319217681884765625f);
  const double gamma = context.node.attributes.Float("gamma", 1.05070102214813232421875f);
  return FloatUnary(context,
                    [=](double x) { return gamma * (x < 0 ? alpha * math::Expm1(x) : x); });
}

}  // namespace

extern constexpr ir::OpDef kSelu{
    .name = "Selu",
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
