// Gelu(x): x * Phi(x), Phi the normal distribution (approximate = tanh: its approximation), element
// by element.
#include <span>

#include "core/base/math_each.h"
#include "core/ops/unary_blocks.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"approximate", ir::AttrKind::kString}};

// x becomes 0.5 * x * (1 + curve(argument(x))), where curve replaces its argument.
template <class Argument>
void Weigh(std::span<double> x, Argument&& argument, void (*curve)(std::span<double>)) {
  double values[kUnaryBlock];
  const std::span<double> curved(values, x.size());
  for (size_t i = 0; i < x.size(); ++i) curved[i] = argument(x[i]);
  curve(curved);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.5 * x[i] * (1 + curved[i]);
}

Status Reference(const ir::EvalContext& context) {
  if (context.node.attributes.String("approximate", "none") == "tanh") {
    return FloatUnaryBlocks(context, [](std::span<double> values) {
      Weigh(
          values, [](double x) { return 0.7978845608028654 * (x + 0.044715 * x * x * x); },
          &math::TanhEach);
    });
  }
  return FloatUnaryBlocks(context, [](std::span<double> values) {
    Weigh(
        values, [](double x) { return x * 0.7071067811865476; }, &math::ErfEach);
  });
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
