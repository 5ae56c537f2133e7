// SPDX-License-Identifier: Apache-2.0
// Range(start, limit, delta): start, start + delta, ... before limit.
#include <cmath>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  const ir::DType dtype = context.dtype(0);
  if (dtype == ir::DType::kBool || context.dtype(1) != dtype || context.dtype(2) != dtype) {
    return context.Invalid("start, limit and delta must be numbers of one type");
  }
  std::array<double, 3> at{};
  for (size_t i = 0; i < at.size(); ++i) {
    const ir::Tensor* tensor = context.known(i);
    if (tensor == nullptr) {
      constexpr std::string_view kWhat[] = {"start", "limit", "delta"};
      return DependsOnData(context, i, kWhat[i]);
    }
    if (tensor->size() != 1) return context.Invalid("input {} must be a scalar", i);
    at[i] = tensor->FloatAt(0);
  }
  const double count = std::ceil((at[1] - at[0]) / at[2]);
  if (!(std::abs(count) < 0x1p40))
    return context.Invalid("delta {} does not reach limit {} in 2^40 steps", at[2], at[1]);
  context.SetResult(0, dtype, {std::max<int64_t>(0, static_cast<int64_t>(count))});
  return {};
}

Status Definition(const ir::EvalContext& context) {
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    const T start = context.in(0).values<T>()[0], delta = context.in(2).values<T>()[0];
    const auto to = context.out().mutable_values<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = static_cast<T>(start + static_cast<T>(static_cast<T>(i) * delta));
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kRange{
    .name = "Range",
    .since = ir::Since(11),
    .inputs = {3, 3},
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why =
                  "it has no real-valued input; it folds to a constant where its bounds are known"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
