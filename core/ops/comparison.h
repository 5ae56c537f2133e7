// What the ops on two broadcast operands with a bool result share.
#pragma once

#include "core/ops/data_op.h"

namespace octavo::ops {

// Both operands have one type; the result is bool of their broadcast shape.
Status InferComparison(ir::InferContext& context);
// The same for operands that are bool themselves.
Status InferLogic(ir::InferContext& context);

template <class T, class F>
void Compare(const ir::Tensor& a, const ir::Tensor& b, ir::Tensor& result, F&& compare) {
  const auto from_a = a.values<T>(), from_b = b.values<T>();
  const auto to = result.mutable_values<bool>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = compare(from_a[i], from_b[i]);
}

// result = compare(a, b), element by element.
template <class F>
Status CompareReference(const ir::EvalContext& context, F&& compare) {
  ir::Tensor& result = context.out();
  const ir::Tensor a = BroadcastTo(context.in(0), result.shape(), context.pool);
  const ir::Tensor b = BroadcastTo(context.in(1), result.shape(), context.pool);
  VisitDType(a.dtype(), [&]<class T>(T) { Compare<T>(a, b, result, compare); });
  return {};
}

}  // namespace octavo::ops
