// SPDX-License-Identifier: Apache-2.0
// MeanVarianceNormalization(x) {axes}: (x - mean) / (deviation + 1e-9) over the axes (0, 2, 3), in
// double, rounded once.
#include <cmath>

#include "core/ops/shared/reduce.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axes", ir::AttrKind::kInts}};
constexpr double kEpsilon = 1e-9;  // as in ONNX's function body

Status Infer(ir::InferContext& context) {
  const auto rank = static_cast<int>(context.shape(0).size());
  for (const int64_t axis : context.node().attributes.Ints("axes", {0, 2, 3})) {
    OCTAVO_TRY([[maybe_unused]] const int checked, CheckedAxis(context, axis, rank));
  }
  return InferFloatUnary(context);
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  std::vector<bool> reduced(x.rank(), false);
  for (const int64_t axis : context.node.attributes.Ints("axes", {0, 2, 3})) {
    reduced[FrontAxis(axis, x.rank())] = true;
  }
  const Reduction reduction = ReductionOver(x.shape(), reduced);
  const auto count = static_cast<double>(reduction.inner.size());
  VisitDType(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    for (const int64_t base : reduction.outer) {
      double sum = 0, squares = 0;
      for (const int64_t i : reduction.inner) sum += static_cast<double>(from[base + i]);
      const double mean = sum / count;
      for (const int64_t i : reduction.inner) {
        const double distance = static_cast<double>(from[base + i]) - mean;
        squares += distance * distance;
      }
      const double deviation = std::sqrt(squares / count) + kEpsilon;
      for (const int64_t i : reduction.inner) {
        to[base + i] = static_cast<T>((static_cast<double>(from[base + i]) - mean) / deviation);
      }
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kMeanVarianceNormalization{
    .name = "MeanVarianceNormalization",
    .since = ir::Since(9),
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
