// Swish(x): x * sigmoid(alpha * x), element by element.
#include <span>

#include "core/base/math_each.h"
#include "core/ops/unary_blocks.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"alpha", ir::AttrKind::kFloat}};

Status Reference(const ir::EvalContext& context) {
  const double alpha = context.node.attributes.Float("alpha", 1);
  return FloatUnaryBlocks(context, [alpha](std::span<double> x) {
    double values[kUnaryBlock];
    const std::span<double> gates(values, x.size());
    for (size_t i = 0; i < x.size(); ++i) gates[i] = alpha * x[i];
    math::SigmoidEach(gates);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= gates[i];
  });
}

}  // namespace

extern constexpr ir::OpDef kSwish{
    .name = "Swish",
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferFloatUnary,
    .reference = &Reference,
};

}  // namespace octavo::ops
