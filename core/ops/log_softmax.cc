// LogSoftmax(x) {axis}: x - max - log(sum e^(x - max)) along the axis; in double, rounded once.
#include <algorithm>
#include <vector>

#include "core/base/math.h"
#include "core/base/math_each.h"
#include "core/ops/softmax_rows.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
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

}  // namespace

extern constexpr ir::OpDef kLogSoftmax{
    .name = "LogSoftmax",
    .attributes = kSoftmaxAttributes,
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferSoftmax,
    .reference = &Reference,
};

}  // namespace octavo::ops
