// SPDX-License-Identifier: Apache-2.0
// NonZero(x): the indices of the nonzero elements, one row per axis.  Their number depends on x's
// elements, which type inference must know.
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

// Flat indices in row-major order.
std::vector<int64_t> Places(const ir::Tensor& x) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < x.size(); ++i) {
    if (x.FloatAt(i) != 0) places.push_back(i);
  }
  return places;
}

Status Infer(ir::InferContext& context) {
  const ir::Tensor* x = context.known(0);
  if (x == nullptr) return DependsOnData(context, 0, "how many elements are not 0");
  context.SetResult(0, ir::DType::kI64, {x->rank(), static_cast<int64_t>(Places(*x).size())});
  return {};
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const std::vector<int64_t> places = Places(x);
  const ir::Shape strides = ir::StridesOf(x.shape());
  const auto to = context.out().mutable_values<int64_t>();
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    for (size_t i = 0; i < places.size(); ++i) {
      to[axis * places.size() + i] = places[i] / strides[axis] % x.shape()[axis];
    }
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kNonZero{
    .name = "NonZero",
    .since = ir::Since(9),
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = kNotReal,
    .infer = &Infer,
    .definition = &Definition,
    .depends_on_order = true,
};

}  // namespace octavo::ops
