// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization(x, scale, b): normalizes each channel plane of each sample to mean 0 and
// variance 1, then scales and shifts by channel; in double, rounded once.
#include "core/ops/shared/normalize_rows.h"
#include "core/ops/shared/real_type.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"epsilon", ir::AttrKind::kFloat}};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const ir::Shape& x = context.shape(0);
  if (x.size() < 3) {
    return context.Invalid("operand of shape {} must have at least 3 axes", ir::ToString(x));
  }
  for (size_t i = 1; i < 3; ++i) {
    if (context.shape(i) != ir::Shape{x[1]}) {
      return context.Invalid("input {} has shape {}, but must have {} elements", i,
                             ir::ToString(context.shape(i)), x[1]);
    }
  }
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t channels = x.shape()[1];
  const int64_t size = ir::StridesOf(x.shape())[1];
  const double epsilon = context.node.attributes.Float("epsilon", 1e-5f);
  WithReal(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    context.pool->For(x.shape()[0] * channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const Moments moments = MomentsOf(from + plane * size, size, epsilon);
        const double factor = context.in(1).FloatAt(plane % channels) * moments.inverse_deviation;
        const double shift = context.in(2).FloatAt(plane % channels);
        for (int64_t i = plane * size; i < (plane + 1) * size; ++i) {
          to[i] = static_cast<T>((from[i] - moments.mean) * factor + shift);
        }
      }
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kInstanceNormalization{
    .name = "InstanceNormalization",
    .since = ir::Since(1),
    .inputs = {3, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
