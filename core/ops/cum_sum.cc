// SPDX-License-Identifier: Apache-2.0
// CumSum(x, axis) {exclusive, reverse}: running sums along an axis.
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"exclusive", ir::AttrKind::kInt},
                                        {"reverse", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(const std::vector<int64_t> axes, context.KnownInts(1, "axis"));
  if (axes.size() != 1) return context.Invalid("axis must be one number");
  OCTAVO_CHECK(CheckedAxis(context, axes[0], static_cast<int>(context.shape(0).size())));
  if (context.dtype(0) == ir::DType::kBool) {
    return context.Unsupported("data of type {} is not supported", Name(context.dtype(0)));
  }
  return InferSameType(context);
}

// Floats accumulate in double; integers wrap around in their own width.
template <class T>
void Accumulate(const ir::EvalContext& context) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  const ir::Tensor& x = context.in(0);
  const int axis = FrontAxis(context.in(1).IntAt(0), x.rank());
  const bool exclusive = context.node.attributes.Int("exclusive", 0) != 0;
  const bool reverse = context.node.attributes.Int("reverse", 0) != 0;
  const int64_t extent = x.shape()[axis], inner = ir::StridesOf(x.shape())[axis];
  if (x.size() == 0) return;
  const auto from = x.values<T>();
  const auto to = context.out().mutable_values<T>();
  for (int64_t r = 0; r < x.size() / extent; ++r) {
    const int64_t base = r / inner * inner * extent + r % inner;
    Sum sum = 0;
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t at = base + (reverse ? extent - 1 - i : i) * inner;
      if (exclusive) to[at] = static_cast<T>(sum);
      sum += static_cast<Sum>(from[at]);
      if (!exclusive) to[at] = static_cast<T>(sum);
    }
  }
}

Status Definition(const ir::EvalContext& context) {
  VisitDType(context.in(0).dtype(), [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) Accumulate<T>(context);
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kCumSum{
    .name = "CumSum",
    .since = ir::Since(11),
    .inputs = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "running sums of many values exceed the range of 8 bits"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
