// SPDX-License-Identifier: Apache-2.0
// The arithmetic of products by element type: f32 and f64 in themselves (one chain of fused
// multiply-adds), 16-bit floats widened, integers modulo their width.
#pragma once

#include <cmath>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {

// Requires the operands, and the optional addend at input 2, to have one float type.
inline Status CheckProductTypes(const ir::InferContext& context) {
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.Has(i)) continue;
    if (!ir::IsFloat(context.dtype(i))) {
      return context.Unsupported("operand {} is {}, but must be a float type", i,
                                 Name(context.dtype(i)));
    }
    if (context.dtype(i) != context.dtype(0)) {
      return context.Invalid("operands are {} and {}, but must have one type",
                             Name(context.dtype(0)), Name(context.dtype(i)));
    }
  }
  return {};
}

// a * b + sum.
template <class T>
T MultiplyAdd(T a, T b, T sum) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fma(a, b, sum);
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b) +
                          static_cast<uint64_t>(sum));
  }
}

}  // namespace octavo::ops
