// SPDX-License-Identifier: Apache-2.0
// BatchNormalization(x, scale, b, mean, var), for inference:
// scale * (x - mean) / sqrt(var + epsilon) + b for each channel (axis 1), computed in double,
// rounded once.
#include <cmath>

#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/real_type.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"epsilon", ir::AttrKind::kFloat},
    {"momentum", ir::AttrKind::kFloat},
    {"training_mode", ir::AttrKind::kInt},
};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  if (context.node().attributes.Int("training_mode", 0) != 0) {
    return context.Unsupported("training_mode = 1 is not supported");
  }
  const ir::Shape& x = context.shape(0);
  const int64_t channels = x.size() < 2 ? 1 : x[1];
  for (size_t i = 1; i < 5; ++i) {
    if (context.shape(i) != ir::Shape{channels}) {
      return context.Invalid("input {} has shape {}, but must have {} elements", i,
                             ir::ToString(context.shape(i)), channels);
    }
  }
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t channels = x.rank() < 2 ? 1 : x.shape()[1];
  const int64_t inner = x.rank() < 2 ? 1 : ir::StridesOf(x.shape())[1];
  const double epsilon = context.node.attributes.Float("epsilon", 1e-5f);
  WithReal(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    const int64_t planes = inner == 0 ? 0 : x.size() / inner;
    context.pool->For(planes, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        const int64_t c = plane % channels;
        const double factor =
            context.in(1).FloatAt(c) / std::sqrt(context.in(4).FloatAt(c) + epsilon);
        const double mean = context.in(3).FloatAt(c), shift = context.in(2).FloatAt(c);
        for (int64_t i = plane * inner; i < (plane + 1) * inner; ++i) {
          to[i] = static_cast<T>((static_cast<double>(from[i]) - mean) * factor + shift);
        }
      }
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kBatchNormalization{
    .name = "BatchNormalization",
    .since = ir::Since(1),
    .inputs = {5, 5},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
