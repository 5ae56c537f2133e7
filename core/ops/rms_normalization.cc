// SPDX-License-Identifier: Apache-2.0
// RMSNormalization(x, scale) {axis, epsilon}: divides by the root mean square over the axes from
// `axis` on, then scales; in double, rounded once.
#include "core/ops/shared/normalize_rows.h"
#include "core/ops/shared/real_type.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferTrailing(context));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int axis = FrontAxis(context.node.attributes.Int("axis", -1), x.rank());
  const ir::Shape row(x.shape().begin() + axis, x.shape().end());
  const int64_t size = ir::NumElements(row);
  const double epsilon = context.node.attributes.Float("epsilon", 1e-5f);
  const ir::Tensor scale = BroadcastTo(context.in(1), row, context.pool);
  WithReal(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    context.pool->For(size == 0 ? 0 : x.size() / size, 4, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const double inverse = InverseRootMeanSquare(from + r * size, size, epsilon);
        for (int64_t i = 0; i < size; ++i) {
          to[r * size + i] = static_cast<T>(from[r * size + i] * inverse * scale.FloatAt(i));
        }
      }
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kRMSNormalization{
    .name = "RMSNormalization",
    .since = ir::Since(23),
    .inputs = {2, 2},
    .attributes = kTrailingAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
