// LpNormalization(x) {axis, p}: each row along the axis divided by its norm, the sum of magnitudes
// (p = 1) or the root of the sum of squares (p = 2); a row of norm 0 stays 0.
#include <cmath>

#include "core/ops/softmax_rows.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt}, {"p", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const int64_t p = context.node().attributes.Int("p", 2);
  if (p != 1 && p != 2) return context.Invalid("p is {}, but must be 1 or 2", p).Field("p");
  return InferSoftmax(context);
}

Status Reference(const ir::EvalContext& context) {
  const bool squares = context.node.attributes.Int("p", 2) == 2;
  return ForEachRow(context, [squares](double* values, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      sum += squares ? values[i] * values[i] : std::abs(values[i]);
    }
    const double norm = squares ? std::sqrt(sum) : sum;
    for (int64_t i = 0; i < count && norm != 0; ++i) values[i] /= norm;
  });
}

}  // namespace

extern constexpr ir::OpDef kLpNormalization{
    .name = "LpNormalization",
    .attributes = kAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kFixed, .why = {}, .range = {-1, 1}},
    .rescale = kScalesItself,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
