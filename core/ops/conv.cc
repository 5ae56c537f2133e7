// Conv(x, w, b): x [N, C, spatial..], w [M, C / group, kernel..], b [M] or absent.  Every output
// is one chain of fused multiply-adds from +0: channel of the group, then tap in row-major order
// (the padding takes part with +0); the bias is one addition at the end.
#include <cmath>

#include "core/ops/elementwise.h"
#include "core/ops/product_type.h"
#include "core/ops/window.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"kernel_shape", ir::AttrKind::kInts}, {"strides", ir::AttrKind::kInts},
    {"dilations", ir::AttrKind::kInts},    {"pads", ir::AttrKind::kInts},
    {"auto_pad", ir::AttrKind::kString},   {"group", ir::AttrKind::kInt},
};

Status Infer(ir::InferContext& context) {
  const ir::Shape& x = context.shape(0);
  const ir::Shape& w = context.shape(1);
  OCTAVO_CHECK(CheckProductTypes(context));
  if (x.size() < 3 || w.size() != x.size()) {
    return context.Invalid("data of shape {} and weight of shape {} must have one rank, at least 3",
                           ir::ToString(x), ir::ToString(w));
  }
  const int64_t group = context.node().attributes.Int("group", 1);
  if (group < 1 || x[1] % group != 0 || w[0] % group != 0) {
    return context.Invalid("group {} must divide {} input and {} output channels", group, x[1],
                           w[0]);
  }
  if (w[1] != x[1] / group) {
    return context.Invalid("weight has {} input channels per group but the data has {}", w[1],
                           x[1] / group);
  }
  if (context.Has(2) && context.shape(2) != ir::Shape{w[0]}) {
    return context.Invalid("bias has shape {}, but must have {} elements",
                           ir::ToString(context.shape(2)), w[0]);
  }
  OCTAVO_TRY(const Window window, WindowOf(context.node(), x, {w.begin() + 2, w.end()}));
  ir::Shape shape = {x[0], w[0]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

template <class T>
Status Compute(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const ir::Tensor& w = context.in(1);
  OCTAVO_TRY(const Window window,
             WindowOf(context.node, x.shape(), {w.shape().begin() + 2, w.shape().end()}));
  const int64_t in_size = ir::NumElements(window.in);
  const int64_t out_size = window.positions();
  const int64_t taps = window.taps();
  const int64_t channels = w.shape()[1];
  const int64_t outputs = w.shape()[0];
  const int64_t group_outputs = outputs / context.node.attributes.Int("group", 1);
  const T* from = x.values<T>().data();
  const T* weight = w.values<T>().data();
  T* to = context.out().mutable_values<T>().data();
  context.pool->For(x.shape()[0] * outputs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t n = plane / outputs, m = plane % outputs;
      T* sums = to + plane * out_size;
      std::fill(sums, sums + out_size, T(0));
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t channel = m / group_outputs * channels + c;
        const T* source = from + (n * x.shape()[1] + channel) * in_size;
        const T* kernel = weight + (m * channels + c) * taps;
        ForEachTap(window, 0, out_size, [&](int64_t position, int64_t tap, int64_t offset) {
          const T value = offset < 0 ? T(0) : source[offset];
          sums[position] = std::fma(value, kernel[tap], sums[position]);
        });
      }
      if (!context.Has(2)) continue;
      const T bias = context.in(2).values<T>()[m];
      for (int64_t i = 0; i < out_size; ++i) sums[i] += bias;
    }
  });
  return {};
}

Status Reference(const ir::EvalContext& context) {
  return context.in(0).dtype() == ir::DType::kF64 ? Compute<double>(context)
                                                  : Compute<float>(context);
}

int WeightAxis(const ir::Graph&, const ir::Node&, int) { return 0; }

}  // namespace

extern constexpr ir::OpDef kConv{
    .name = "Conv",
    .inputs = {2, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kWeight, ir::Role::kBias),
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .weight_axis = &WeightAxis,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
