// SPDX-License-Identifier: Apache-2.0
// Shape(data) {start, end}: the extents of data from axis start to before axis end.
// Size(data): the number of its elements.
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"start", ir::AttrKind::kInt}, {"end", ir::AttrKind::kInt}};

ir::Shape Extents(const ir::Node& node, const ir::Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const auto bound = [&](std::string_view name, int64_t fallback) {
    const int64_t axis = node.attributes.Int(name, fallback);
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t start = bound("start", 0), end = bound("end", rank);
  if (start >= end) return {};
  return {shape.begin() + start, shape.begin() + end};
}

Status InferShape(ir::InferContext& context) {
  const ir::Shape extents = Extents(context.node(), context.shape(0));
  context.SetResult(0, ir::DType::kI64, {static_cast<int64_t>(extents.size())});
  return {};
}

Status ShapeOf(const ir::EvalContext& context) {
  std::ranges::copy(Extents(context.node, context.in(0).shape()),
                    context.out().mutable_values<int64_t>().begin());
  return {};
}

Status InferSize(ir::InferContext& context) {
  context.SetResult(0, ir::DType::kI64, {});
  return {};
}

Status SizeOf(const ir::EvalContext& context) {
  context.out().mutable_values<int64_t>()[0] = context.in(0).size();
  return {};
}

}  // namespace

extern constexpr ir::OpDef kShape{
    .name = "Shape",
    .since = ir::Since(1),
    .attributes = kAttributes,
    .quant = kNotReal,
    .rescale = {.at_input = ir::RescaleRule::AtInput::kFold},
    .infer = &InferShape,
    .definition = &ShapeOf,
    .shape_only = true,
};
extern constexpr ir::OpDef kSize{
    .name = "Size",
    .since = ir::Since(1),
    .quant = kNotReal,
    .rescale = {.at_input = ir::RescaleRule::AtInput::kFold},
    .infer = &InferSize,
    .definition = &SizeOf,
    .shape_only = true,
};

}  // namespace octavo::ops
