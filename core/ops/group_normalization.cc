// SPDX-License-Identifier: Apache-2.0
// GroupNormalization(x, scale, bias) {num_groups, epsilon}: normalizes each group of channels of
// each sample to mean 0 and variance 1, then scales and shifts by channel (opset 21); in double,
// rounded once.
#include "core/ops/shared/normalize_rows.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"epsilon", ir::AttrKind::kFloat},
                                        {"num_groups", ir::AttrKind::kInt, true},
                                        {"stash_type", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const ir::Shape& x = context.shape(0);
  const int64_t groups = context.node().attributes.Int("num_groups", 1);
  if (x.size() < 3 || groups < 1 || x[1] % groups != 0) {
    return context.Invalid("operand of shape {} has no channels in {} groups", ir::ToString(x),
                           groups);
  }
  for (size_t i = 1; i < 3; ++i) {
    if (context.shape(i) == ir::Shape{x[1]}) continue;
    return context.Invalid("input {} has shape {}, but must have {} elements", i,
                           ir::ToString(context.shape(i)), x[1]);
  }
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t channels = x.shape()[1], groups = context.node.attributes.Int("num_groups", 1);
  const int64_t plane = ir::StridesOf(x.shape())[1], size = channels / groups * plane;
  const double epsilon = context.node.attributes.Float("epsilon", 1e-5f);
  VisitDType(x.dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      const T* from = x.values<T>().data();
      T* to = context.out().mutable_values<T>().data();
      context.pool->For(x.shape()[0] * groups, 1, [&](int64_t begin, int64_t end) {
        for (int64_t group = begin; group < end; ++group) {
          const Moments moments = MomentsOf(from + group * size, size, epsilon);
          for (int64_t i = group * size; i < (group + 1) * size; ++i) {
            const int64_t channel = i / plane % channels;
            const double normal = (from[i] - moments.mean) * moments.inverse_deviation;
            to[i] = static_cast<T>(normal * context.in(1).FloatAt(channel) +
                                   context.in(2).FloatAt(channel));
          }
        }
      });
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kGroupNormalization{
    .name = "GroupNormalization",
    .since = ir::Since(18),
    .inputs = {3, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
