// SPDX-License-Identifier: Apache-2.0
// LRN(x) {size, alpha, beta, bias}: x / (bias + alpha / size * s)^beta, with s the sum of squares
// over `size` neighbouring channels; in double, rounded once.
#include "core/base/math.h"
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"size", ir::AttrKind::kInt, true},
    {"alpha", ir::AttrKind::kFloat},
    {"beta", ir::AttrKind::kFloat},
    {"bias", ir::AttrKind::kFloat},
};

Status Infer(ir::InferContext& context) {
  if (context.shape(0).size() < 2 || context.dtype(0) != ir::DType::kF32) {
    return context.Invalid("operand {}x{} must be f32 of at least 2 axes",
                           ir::ToString(context.shape(0)), Name(context.dtype(0)));
  }
  if (context.node().attributes.Int("size", 0) < 1) return context.Invalid("size must be positive");
  context.SetResult(0, context.dtype(0), context.shape(0));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const ir::AttrMap& attributes = context.node.attributes;
  const int64_t channels = x.shape()[1];
  const int64_t inner = ir::StridesOf(x.shape())[1];
  const int64_t size = attributes.Int("size", 1);
  const double alpha = double{attributes.Float("alpha", 1e-4f)} / static_cast<double>(size);
  const double beta = attributes.Float("beta", 0.75f), bias = attributes.Float("bias", 1.0f);
  const float* from = x.values<float>().data();
  float* to = context.out().mutable_values<float>().data();
  context.pool->For(x.shape()[0] * channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t c = plane % channels;
      const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2);
      const int64_t last = std::min(channels - 1, c + size / 2);
      for (int64_t i = 0; i < inner; ++i) {
        double squares = 0;
        for (int64_t k = first; k <= last; ++k) {
          const double value = from[(plane - c + k) * inner + i];
          squares += value * value;
        }
        to[plane * inner + i] =
            static_cast<float>(from[plane * inner + i] / math::Pow(bias + alpha * squares, beta));
      }
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kLRN{
    .name = "LRN",
    .since = ir::Since(1),
    .attributes = kAttributes,
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
