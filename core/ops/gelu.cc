// Gelu(x): x * Phi(x), Phi the normal distribution (approximate = tanh: its approximation), element
// by element.
#include "core/base/math.h"
#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"approximate", ir::AttrKind::kString}};

Status Reference(const ir::EvalContext& context) {
  if (context.node.attributes.String("approximate", "none") == "tanh") {
    return FloatUnary(context, [](double x) {
      return 0.5 * x * (1 + math::Tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    });
  }
  return FloatUnary(context,
                    [](double x) { return 0.5 * x * (1 + math::Erf(x * 0.7071067811865476)); });
}

}  // namespace

extern constexpr ir::OpDef kGelu{
    .name = "Gelu",
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
