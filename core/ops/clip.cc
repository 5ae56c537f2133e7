// SPDX-License-Identifier: Apache-2.0
// Clip(x, min, max): x clamped to [min, max], element by element; both bounds are optional.
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  for (size_t i = 1; i < 3; ++i) {
    if (!context.Has(i)) continue;
    if (context.dtype(i) != context.dtype(0) || ir::NumElements(context.shape(i)) != 1) {
      return context.Invalid("bound {} is {}x{}, but must be one {}", i == 1 ? "min" : "max",
                             ir::ToString(context.shape(i)), Name(context.dtype(i)),
                             Name(context.dtype(0)));
    }
  }
  return InferNumericUnary(context);
}

Status Definition(const ir::EvalContext& context) {
  VisitDType(context.in(0).dtype(), [&]<class T>(T) {
    const std::span<const T> from = context.in(0).values<T>();
    const std::span<T> to = context.out().mutable_values<T>();
    const T* least = context.Has(1) ? context.in(1).values<T>().data() : nullptr;
    const T* most = context.Has(2) ? context.in(2).values<T>().data() : nullptr;
    context.pool->For(context.in(0).size(), kElementwiseGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T x = from[i];
        if (least && x < *least) x = *least;
        if (most && x > *most) x = *most;  // the upper bound wins, as in ONNX's definition
        to[i] = x;
      }
    });
  });
  return {};
}

ir::QuantRule QuantOf(const ir::Graph& graph, const ir::Node& node) {
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && !graph.IsConstant(node.inputs[i])) {
      return {.why = "its bounds are not constant"};
    }
  }
  return kFreeResult;
}

int FirstIfUnbounded(const ir::Graph&, const ir::Node& node) {
  return node.input(1) || node.input(2) ? -1 : 0;
}

}  // namespace

extern constexpr ir::OpDef kClip{
    .name = "Clip",
    .since = ir::Since(1),
    .inputs = {1, 3},
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant_of = &QuantOf,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
    .pointwise = true,
    .clamps = true,
    .identity_of = &FirstIfUnbounded,
};

}  // namespace octavo::ops
