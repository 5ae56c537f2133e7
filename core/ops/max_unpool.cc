// SPDX-License-Identifier: Apache-2.0
// MaxUnpool(x, indices, output_shape?) {kernel_shape, strides, pads}: writes every element of x to
// the position that MaxPool's indices specify; all other elements are zero.
#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/window.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"kernel_shape", ir::AttrKind::kInts, true},
                                        {"pads", ir::AttrKind::kInts},
                                        {"strides", ir::AttrKind::kInts}};

// The smallest operand shape for which MaxPool results in x's shape; empty if the attributes are
// inconsistent.
ir::Shape PooledFrom(const ir::Node& node, const ir::Shape& x) {
  const ir::AttrMap& attributes = node.attributes;
  const size_t axes = x.size() < 2 ? 0 : x.size() - 2;
  const std::vector<int64_t> kernel = attributes.Ints("kernel_shape");
  const std::vector<int64_t> strides = attributes.Ints("strides", std::vector<int64_t>(axes, 1));
  const std::vector<int64_t> pads = attributes.Ints("pads", std::vector<int64_t>(2 * axes, 0));
  if (axes == 0 || kernel.size() != axes || strides.size() != axes || pads.size() != 2 * axes) {
    return {};
  }
  ir::Shape shape = x;
  for (size_t d = 0; d < axes; ++d) {
    shape[d + 2] = (x[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[axes + d];
  }
  return shape;
}

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferNumericUnary(context));
  if (context.dtype(1) != ir::DType::kI64 || context.shape(1) != context.shape(0)) {
    return context.Invalid("indices must be i64 of shape {}", ir::ToString(context.shape(0)));
  }
  ir::Shape shape = PooledFrom(context.node(), context.shape(0));
  if (shape.empty()) {
    return context.Invalid("kernel_shape, strides and pads do not fit shape {}",
                           ir::ToString(context.shape(0)));
  }
  if (context.Has(2)) {
    OCTAVO_TRY(const std::vector<int64_t> given, context.KnownInts(2, "output_shape"));
    if (given.size() != shape.size()) {
      return context.Invalid("output_shape must have {} extents", shape.size());
    }
    shape = given;
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

// Indices are flat indices into the smallest operand; in a larger result they keep their
// coordinates.  Returns -1 for an index outside of it.
int64_t PlaceOf(int64_t index, const ir::Shape& pooled, const ir::Shape& result,
                const ir::Shape& strides) {
  if (index < 0) return -1;
  int64_t place = 0;
  for (size_t d = pooled.size(); d-- > 0;) {
    const int64_t at = d > 0 ? index % pooled[d] : index;
    if (at >= result[d]) return -1;
    place += at * strides[d];
    index /= pooled[d];
  }
  return place;
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& indices = context.in(1);
  ir::Tensor& result = context.out();
  const ir::Shape pooled = PooledFrom(context.node, context.in(0).shape());
  const ir::Shape strides = ir::StridesOf(result.shape());
  std::vector<int64_t> places;
  for (const int64_t index : indices.values<int64_t>()) {
    places.push_back(PlaceOf(index, pooled, result.shape(), strides));
    if (places.back() < 0) {
      return BadData(context, "index {} is outside of shape {}", index,
                     ir::ToString(result.shape()));
    }
  }
  VisitDType(result.dtype(), [&]<class T>(T) {
    const auto x = context.in(0).values<T>();
    const auto to = result.mutable_values<T>();
    for (size_t i = 0; i < x.size(); ++i) to[places[i]] = x[i];
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kMaxUnpool{
    .name = "MaxUnpool",
    .since = ir::Since(9),
    .inputs = {2, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "it fills with zeros, which its operand's type may not represent"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
