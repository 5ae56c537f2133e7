// Shape(data) {start, end}: the extents of data from axis start to before axis end.
#include "core/ops/data_op.h"

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

Status Infer(ir::InferContext& context) {
  const ir::Shape extents = Extents(context.node(), context.shape(0));
  context.SetResult(0, ir::DType::kI64, {static_cast<int64_t>(extents.size())});
  return {};
}

Status Reference(const ir::EvalContext& context) {
  std::ranges::copy(Extents(context.node, context.in(0).shape()),
                    context.out().mutable_values<int64_t>().begin());
  return {};
}

}  // namespace

extern constexpr ir::OpDef kShape{
    .name = "Shape",
    .attributes = kAttributes,
    .quant = {.kind = ir::QuantRule::Kind::kNotReal},
    .rescale = {.at_input = ir::RescaleRule::AtInput::kAbsorbed},
    .infer = &Infer,
    .reference = &Reference,
    .shape_only = true,
};

}  // namespace octavo::ops
