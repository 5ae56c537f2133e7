// Hardmax(x) {axis}: 1 at the first largest element along the axis, 0 elsewhere.
#include <algorithm>

#include "core/ops/softmax_rows.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  return ForEachRow(context, [](double* values, int64_t count) {
    double* most = std::max_element(values, values + count);
    std::fill(values, values + count, 0.0);
    *most = 1;
  });
}

}  // namespace

extern constexpr ir::OpDef kHardmax{
    .name = "Hardmax",
    .attributes = kSoftmaxAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kFixed, .why = {}, .range = {0, 1}},
    .rescale = {},
    .infer = &InferSoftmax,
    .reference = &Reference,
};

}  // namespace octavo::ops
