// What ops on the bits of integers share.
#pragma once

#include "core/ops/elementwise.h"

namespace octavo::ops {

// The operands must be integers of one type; the result has their broadcast shape.
Status InferIntegers(ir::InferContext& context);

// result = f(a, b) in the unsigned type of the elements' width, so that nothing is undefined.
template <class F>
Status IntegerBinary(const ir::EvalContext& context, F&& f) {
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using U = std::make_unsigned_t<T>;
      BroadcastLoop<T>(context.in(0), context.in(1), context.out(), *context.pool, [&](T a, T b) {
        return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
      });
    }
  });
  return {};
}

}  // namespace octavo::ops
