// Softmax(x) {axis}: e^(x - max) over its sum along the axis; in double, rounded once.
#include <algorithm>

#include "core/base/math_each.h"
#include "core/ops/softmax_rows.h"

namespace octavo::ops {

Status InferSoftmax(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const auto rank = static_cast<int>(context.shape(0).size());
  if (rank == 0) return {};
  OCTAVO_TRY([[maybe_unused]] const int axis,
             CheckedAxis(context, context.node().attributes.Int("axis", -1), rank));
  return {};
}

namespace {

Status Reference(const ir::EvalContext& context) {
  return ForEachRow(context, [](double* values, int64_t count) {
    const double most = *std::max_element(values, values + count);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) values[i] -= most;
    math::ExpEach({values, static_cast<size_t>(count)});
    for (int64_t i = 0; i < count; ++i) sum += values[i];
    for (int64_t i = 0; i < count; ++i) values[i] /= sum;
  });
}

}  // namespace

extern constexpr ir::OpDef kSoftmax{
    .name = "Softmax",
    .attributes = kSoftmaxAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kFixed, .why = {}, .range = {0, 1}},
    .rescale = kScalesItself,
    .infer = &InferSoftmax,
    .reference = &Reference,
};

}  // namespace octavo::ops
