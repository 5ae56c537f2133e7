// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shared/reduce.h"

namespace octavo::ops {
namespace {

// Whether each axis is reduced; all false if the op does nothing.
std::vector<bool> ReducedAxes(const ir::Node& node, const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> reduced(rank, false);
  if (axes.empty()) {
    const bool noop = node.attributes.Int("noop_with_empty_axes", 0) != 0;
    reduced.assign(rank, !noop);
    return reduced;
  }
  for (const int64_t axis : axes) reduced[FrontAxis(axis, rank)] = true;
  return reduced;
}

}  // namespace

Status InferReduce(ir::InferContext& context) {
  OCTAVO_CHECK(InferNumericUnary(context));
  const ir::Shape& x = context.shape(0);
  const auto rank = static_cast<int>(x.size());
  std::vector<int64_t> axes;
  if (context.Has(1)) {
    OCTAVO_TRY(axes, context.KnownInts(1, "axes"));
  }
  for (const int64_t axis : axes) {
    OCTAVO_TRY([[maybe_unused]] const int checked, CheckedAxis(context, axis, rank));
  }
  const std::vector<bool> reduced = ReducedAxes(context.node(), axes, rank);
  const bool keep = context.node().attributes.Int("keepdims", 1) != 0;
  ir::Shape shape;
  for (int d = 0; d < rank; ++d) {
    if (!reduced[d]) {
      shape.push_back(x[d]);
    } else if (keep) {
      shape.push_back(1);
    }
  }
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

Reduction ReductionOver(const ir::Shape& x, const std::vector<bool>& reduced) {
  const ir::Shape strides = ir::StridesOf(x);
  Reduction reduction{{0}, {0}};
  for (size_t d = 0; d < x.size(); ++d) {
    std::vector<int64_t>& list = reduced[d] ? reduction.inner : reduction.outer;
    std::vector<int64_t> longer;
    longer.reserve(list.size() * x[d]);
    for (const int64_t offset : list) {
      for (int64_t i = 0; i < x[d]; ++i) longer.push_back(offset + i * strides[d]);
    }
    list = std::move(longer);
  }
  return reduction;
}

Result<Reduction> ReductionOf(const ir::EvalContext& context) {
  const ir::Shape& x = context.in(0).shape();
  std::vector<int64_t> axes;
  if (context.Has(1)) axes = context.in(1).ToInts();
  return ReductionOver(x, ReducedAxes(context.node, axes, static_cast<int>(x.size())));
}

}  // namespace octavo::ops
