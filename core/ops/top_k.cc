// SPDX-License-Identifier: Apache-2.0
// TopK(x, k) {axis, largest, sorted}: the k greatest (or least) elements along an axis and their
// indices; of equal elements, the one with the lower index comes first.
#include <algorithm>
#include <numeric>

#include "core/ops/shared/order.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"axis", ir::AttrKind::kInt}, {"largest", ir::AttrKind::kInt}, {"sorted", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", -1),
                                         static_cast<int>(shape.size())));
  OCTAVO_TRY(const std::vector<int64_t> k, context.KnownInts(1, "k"));
  if (k.size() != 1 || k[0] < 0 || k[0] > shape[axis]) {
    return context.Invalid("k must be one number from 0 to the extent {}", shape[axis]);
  }
  shape[axis] = k[0];
  context.SetResult(0, context.dtype(0), shape);
  context.SetResult(1, ir::DType::kI64, std::move(shape));
  return {};
}

template <class T>
void Select(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int axis = FrontAxis(context.node.attributes.Int("axis", -1), x.rank());
  const bool largest = context.node.attributes.Int("largest", 1) != 0;
  const int64_t extent = x.shape()[axis], inner = ir::StridesOf(x.shape())[axis];
  const int64_t k = context.out().shape()[axis];
  if (k == 0 || context.out().size() == 0) return;
  const auto greater = [](T a, T b) { return a > b; };
  const auto less = [](T a, T b) { return a < b; };
  const auto values = context.out(0).mutable_values<T>();
  const auto indices = context.out(1).mutable_values<int64_t>();
  std::vector<int64_t> order(extent);
  for (int64_t r = 0; r < context.out().size() / k; ++r) {
    const T* row = x.values<T>().data() + r / inner * inner * extent + r % inner;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
      const T at_a = row[a * inner], at_b = row[b * inner];
      if (largest ? Beats(at_a, at_b, greater) : Beats(at_a, at_b, less)) return true;
      if (largest ? Beats(at_b, at_a, greater) : Beats(at_b, at_a, less)) return false;
      return a < b;
    });
    for (int64_t i = 0; i < k; ++i) {
      const int64_t to = r / inner * inner * k + i * inner + r % inner;
      values[to] = row[order[i] * inner];
      indices[to] = order[i];
    }
  }
}

Status Definition(const ir::EvalContext& context) {
  VisitDType(context.in(0).dtype(), [&]<class T>(T) { Select<T>(context); });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kTopK{
    .name = "TopK",
    .since = ir::Since(1),
    .inputs = {2, 2},
    .results = {2, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
    .depends_on_order = true,
};

}  // namespace octavo::ops
