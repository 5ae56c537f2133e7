// SPDX-License-Identifier: Apache-2.0
// LpNormalization(x) {axis, p}: divides each row along the axis by its norm, the sum of magnitudes
// (p = 1) or the square root of the sum of squares (p = 2), or by a divisor of lp_norm.h; a row of
// norm 0 stays 0.  Sums are in double, in the order of normalize_rows.h.
#include <cmath>

#include "core/ops/shared/lp_norm.h"
#include "core/ops/shared/normalize_rows.h"
#include "core/ops/shared/softmax_rows.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt},
                                        {"epsilon", ir::AttrKind::kFloat},
                                        {"epsilon_mode", ir::AttrKind::kString},
                                        {"p", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const int64_t p = context.node().attributes.Int("p", 2);
  if (p != 1 && p != 2) return context.Invalid("p is {}, but must be 1 or 2", p).Field("p");
  if (!DivisorOf(context.node().attributes)) {
    return context.Invalid("epsilon must be a finite number >= 0, epsilon_mode max, add or inside")
        .Field("epsilon");
  }
  return InferRows(context);
}

Status Definition(const ir::EvalContext& context) {
  const bool squares = context.node.attributes.Int("p", 2) == 2;
  const Divisor divisor = *DivisorOf(context.node.attributes);
  return ForEachRow(context, [squares, divisor](double* values, int64_t count) {
    const double sum = LaneSum(
        count, [&](int64_t i) { return squares ? values[i] * values[i] : std::abs(values[i]); });
    const double by = divisor.Of(sum, squares);
    for (int64_t i = 0; i < count && by != 0; ++i) values[i] /= by;
  });
}

}  // namespace

extern constexpr ir::OpDef kLpNormalization{
    .name = "LpNormalization",
    .since = ir::Since(1),
    .attributes = kAttributes,
    .quant = FixedRange(-1, 1),
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
