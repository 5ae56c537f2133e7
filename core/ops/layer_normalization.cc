// SPDX-License-Identifier: Apache-2.0
// LayerNormalization(x, scale, b) {axis, epsilon}: normalizes over the axes from `axis` on to mean
// 0 and variance 1, then scales and shifts; in double, rounded once.
#include "core/ops/shared/normalize_rows.h"
#include "core/ops/shared/real_type.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(const int axis, InferTrailing(context));
  ir::Shape moments = context.shape(0);
  std::fill(moments.begin() + axis, moments.end(), 1);
  for (size_t i = 1; i < context.result_count(); ++i) {
    // By stash_type, the moments of 16-bit floats are f32.
    const bool wide = context.dtype(0) == ir::DType::kF64;
    context.SetResult(i, wide ? ir::DType::kF64 : ir::DType::kF32, moments);
  }
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int axis = FrontAxis(context.node.attributes.Int("axis", -1), x.rank());
  const ir::Shape row(x.shape().begin() + axis, x.shape().end());
  const int64_t size = ir::NumElements(row);
  const double epsilon = context.node.attributes.Float("epsilon", 1e-5f);
  const ir::Tensor scale = BroadcastTo(context.in(1), row, context.pool);
  ir::Tensor shift;
  if (context.Has(2)) shift = BroadcastTo(context.in(2), row, context.pool);
  WithReal(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    context.pool->For(size == 0 ? 0 : x.size() / size, 4, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const Moments moments = MomentsOf(from + r * size, size, epsilon);
        for (int64_t i = 0; i < size; ++i) {
          const double normal = (from[r * size + i] - moments.mean) * moments.inverse_deviation;
          const double shifted = context.Has(2) ? shift.FloatAt(i) : 0.0;
          to[r * size + i] = static_cast<T>(normal * scale.FloatAt(i) + shifted);
        }
        if (context.results.size() > 1) {
          context.out(1).mutable_values<T>()[r] = static_cast<T>(moments.mean);
        }
        if (context.results.size() > 2) {
          context.out(2).mutable_values<T>()[r] = static_cast<T>(moments.inverse_deviation);
        }
      }
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kLayerNormalization{
    .name = "LayerNormalization",
    .since = ir::Since(17),
    .inputs = {2, 3},
    .results = {1, 3},
    .attributes = kTrailingAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
