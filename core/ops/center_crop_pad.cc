// SPDX-License-Identifier: Apache-2.0
// CenterCropPad(x, shape) {axes}: crops x around its centre, or pads it with zeros around it, to
// the given extents; an odd element is cropped or added at the end.
#include <numeric>

#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axes", ir::AttrKind::kInts}};

Status Infer(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  const auto rank = static_cast<int>(shape.size());
  std::vector<int64_t> axes = context.node().attributes.Ints("axes");
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  OCTAVO_TRY(const std::vector<int64_t> extents, context.KnownInts(1, "shape"));
  if (extents.size() != axes.size()) {
    return context.Invalid("shape has {} extents for {} axes", extents.size(), axes.size());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    OCTAVO_TRY(const int axis, CheckedAxis(context, axes[i], rank));
    shape[axis] = extents[i];
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  ir::Tensor& y = context.out();
  if (x.size() == 0 || y.size() == 0) return {};
  const ir::Shape from_strides = ir::StridesOf(x.shape()), to_strides = ir::StridesOf(y.shape());
  ir::Shape extents;
  int64_t from = 0, to = 0;
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t in = x.shape()[d], out = y.shape()[d];
    extents.push_back(std::min(in, out));
    from += std::max<int64_t>(0, in - out) / 2 * from_strides[d];
    to += std::max<int64_t>(0, out - in) / 2 * to_strides[d];
  }
  const int element = ir::SizeOf(x.dtype());
  Copy({extents, from_strides, to_strides}, element, x.raw() + from * element,
       y.mutable_raw() + to * element, context.pool);
  return {};
}

}  // namespace

extern constexpr ir::OpDef kCenterCropPad{
    .name = "CenterCropPad",
    .since = ir::Since(18),
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "it pads with zeros, which its operand's type may not represent"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
