// What ops on any number of broadcast operands share.
#pragma once

#include "core/ops/elementwise.h"

namespace octavo::ops {

// Combines the operands from the left: f(f(a, b), c), in the element type.
template <class F>
Status Variadic(const ir::EvalContext& context, F&& f) {
  ir::Tensor& result = context.out();
  VisitDType(result.dtype(), [&]<class T>(T) {
    const auto combine = [&](T a, T b) { return static_cast<T>(f(a, b)); };
    ir::Tensor left = BroadcastTo(context.in(0), result.shape(), context.pool);
    for (size_t i = 1; i < context.inputs.size(); ++i) {
      ir::Tensor next(result.dtype(), result.shape());
      BroadcastLoop<T>(left, context.in(i), next, *context.pool, combine);
      left = std::move(next);
    }
    std::ranges::copy(left.values<T>(), result.mutable_values<T>().begin());
  });
  return {};
}

}  // namespace octavo::ops
