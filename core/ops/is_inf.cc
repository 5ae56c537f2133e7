// IsInf(x) {detect_negative, detect_positive}: whether each element is infinite.
#include <cmath>

#include "core/ops/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"detect_negative", ir::AttrKind::kInt},
                                        {"detect_positive", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  context.SetResult(0, ir::DType::kBool, context.shape(0));
  return {};
}

Status Reference(const ir::EvalContext& context) {
  const bool negative = context.node.attributes.Int("detect_negative", 1) != 0;
  const bool positive = context.node.attributes.Int("detect_positive", 1) != 0;
  const auto to = context.out().mutable_values<bool>();
  for (size_t i = 0; i < to.size(); ++i) {
    const double x = context.in(0).FloatAt(static_cast<int64_t>(i));
    to[i] = std::isinf(x) && (x < 0 ? negative : positive);
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kIsInf{
    .name = "IsInf",
    .attributes = kAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
