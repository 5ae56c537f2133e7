// SPDX-License-Identifier: Apache-2.0
// ConvTranspose(x, w, b): x [N, C, spatial..], w [C, M / group, kernel..], optional b [M].  Every
// output is one chain of fused multiply-adds that starts at +0 and iterates over the channels of
// the group, then over the kernel positions in descending order (input positions in ascending
// order); positions that the strides skip contribute +0.  The bias is added at the end.
#include "core/ops/shared/channel_sums.h"
#include "core/ops/shared/product_type.h"
#include "core/ops/shared/transpose_window.h"

#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/real_type.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"kernel_shape", ir::AttrKind::kInts},   {"strides", ir::AttrKind::kInts},
    {"dilations", ir::AttrKind::kInts},      {"pads", ir::AttrKind::kInts},
    {"auto_pad", ir::AttrKind::kString},     {"group", ir::AttrKind::kInt},
    {"output_padding", ir::AttrKind::kInts}, {"output_shape", ir::AttrKind::kInts},
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
  if (group < 1 || x[1] % group != 0) {
    return context.Invalid("group {} must divide {} input channels", group, x[1]);
  }
  if (w[0] != x[1]) {
    return context.Invalid("weight has {} input channels but the data has {}", w[0], x[1]);
  }
  if (context.Has(2) && context.shape(2) != ir::Shape{w[1] * group}) {
    return context.Invalid("bias has shape {}, but must have {} elements",
                           ir::ToString(context.shape(2)), w[1] * group);
  }
  OCTAVO_TRY(const TransposeWindow window, TransposeWindowOf(context.node(), x, w));
  ir::Shape shape = {x[0], w[1] * group};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

template <class T>
Status Compute(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const ir::Tensor& w = context.in(1);
  OCTAVO_TRY(const TransposeWindow window, TransposeWindowOf(context.node, x.shape(), w.shape()));
  const int64_t groups = context.node.attributes.Int("group", 1);
  const ChannelSums sizes = {
      .in_size = ir::NumElements(window.in),
      .out_size = ir::NumElements(window.out),
      .taps = ir::NumElements(window.kernel),
      .channels = x.shape()[1] / groups,
      .outputs = w.shape()[1] * groups,
      .group_outputs = w.shape()[1],
  };
  SumChannels<T>(
      context, sizes, [&](auto&& body) { window.ForEachTap(std::forward<decltype(body)>(body)); },
      [&](int64_t channel, int64_t m) {
        return channel * sizes.group_outputs + m % sizes.group_outputs;
      });
  return {};
}

Status Definition(const ir::EvalContext& context) {
  return WithReal(context.in(0).dtype(), [&]<class T>(T) { return Compute<T>(context); });
}

// Output channel c uses weight channel c modulo M / group.
int WeightAxis(const ir::Graph&, const ir::Node&, int) { return 1; }

}  // namespace

extern constexpr ir::OpDef kConvTranspose{
    .name = "ConvTranspose",
    .since = ir::Since(1),
    .inputs = {2, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kWeight, ir::Role::kBias),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .weight_axis = &WeightAxis,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
