// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax(x) {axis}: rows along the axis, in double, rounded once.
#include <algorithm>
#include <vector>

#include "core/base/math.h"
#include "core/base/math_each.h"
#include "core/ops/shared/softmax_rows.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt}};

// e^(x - max), divided by its sum.
Status Softmax(const ir::EvalContext& context) {
  return ForEachRow(context, [](double* values, int64_t count) {
    const double most = *std::max_element(values, values + count);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) values[i] -= most;
    math::ExpEach({values, static_cast<size_t>(count)});
    for (int64_t i = 0; i < count; ++i) sum += values[i];
    for (int64_t i = 0; i < count; ++i) values[i] /= sum;
  });
}

// x - max - log(sum e^(x - max)).
Status LogSoftmax(const ir::EvalContext& context) {
  return ForEachRow(context, [](double* values, int64_t count) {
    const double most = *std::max_element(values, values + count);
    std::vector<double> powers(values, values + count);
    for (double& power : powers) power -= most;
    math::ExpEach(powers);
    double sum = 0;
    for (const double power : powers) sum += power;
    const double shift = most + math::Log(sum);
    for (int64_t i = 0; i < count; ++i) values[i] -= shift;
  });
}

// 1 at the first largest element, 0 elsewhere.
Status Hardmax(const ir::EvalContext& context) {
  return ForEachRow(context, [](double* values, int64_t count) {
    double* most = std::max_element(values, values + count);
    std::fill(values, values + count, 0.0);
    *most = 1;
  });
}

constexpr OpDef Row(std::string_view name, Status (*definition)(const ir::EvalContext&),
                    const ir::QuantRule& quant, const ir::RescaleRule& rescale) {
  return {.name = name,
          .since = Since(1),
          .attributes = kAttributes,
          .quant = quant,
          .rescale = rescale,
          .infer = &InferRows,
          .definition = definition};
}

}  // namespace

extern constexpr OpDef kSoftmax = Row("Softmax", &Softmax, FixedRange(0, 1), kFoldsRescale);
extern constexpr OpDef kLogSoftmax = Row("LogSoftmax", &LogSoftmax, kFreeResult, kFoldsRescale);
extern constexpr OpDef kHardmax = [] {
  OpDef row = Row("Hardmax", &Hardmax, FixedRange(0, 1), {});
  row.depends_on_order = true;
  return row;
}();

}  // namespace octavo::ops
