// SPDX-License-Identifier: Apache-2.0
// EyeLike(input) {dtype, k}: 1 on the k-th diagonal of a matrix of the input's shape, else 0.
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"dtype", ir::AttrKind::kInt}, {"k", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  ir::DType dtype = context.dtype(0);
  if (context.node().attributes.Has("dtype")) {
    const auto given = DTypeOfNumber(context.node().attributes.Int("dtype", 0));
    if (!given) return context.Unsupported("its dtype is not supported").Field("dtype");
    dtype = *given;
  }
  if (context.shape(0).size() != 2) return context.Invalid("input must be a matrix");
  context.SetResult(0, dtype, context.shape(0));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const int64_t k = context.node.attributes.Int("k", 0);
  const int64_t rows = context.out().shape()[0], columns = context.out().shape()[1];
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    const auto to = context.out().mutable_values<T>();
    for (int64_t row = 0; row < rows; ++row) {
      if (row + k >= 0 && row + k < columns) to[row * columns + row + k] = T(1);
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kEyeLike{
    .name = "EyeLike",
    .since = ir::Since(9),
    .attributes = kAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why = "it has no real-valued input"},
    .infer = &Infer,
    .definition = &Definition,
    .shape_only = true,
};

}  // namespace octavo::ops
