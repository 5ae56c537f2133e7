// SPDX-License-Identifier: Apache-2.0
// Element-by-element ops on one or two operands: inference, loops over any element type,
// broadcasting.  f32 arithmetic is in f32; transcendental functions of f32 compute in double and
// round once.
#pragma once

#include <limits>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

inline constexpr int64_t kElementwiseGrain = 16384;

// kInvalidArgument unless the operand is f32 or f64; the result has the operand's type.
Status InferFloatUnary(ir::InferContext& context);
// Accepts any type that has a C++ type, except bool.
Status InferNumericUnary(ir::InferContext& context);
// Requires operands of one numeric type; the result has their broadcast shape.
Status InferNumericBinary(ir::InferContext& context);

// Converts a double to an element: rounds it to a float type, or truncates and clamps it to an
// integer's range; NaN gives 0.
template <class T>
T FromReal(double x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x);
  } else if constexpr (std::is_same_v<T, bool>) {
    return x != 0;
  } else {
    if (x != x) return 0;
    // 2^digits is exact as a double; the greatest integer may not be.
    const double end =
        2.0 * static_cast<double>(uint64_t{1} << (std::numeric_limits<T>::digits - 1));
    if (x >= end) return std::numeric_limits<T>::max();
    if (x <= static_cast<double>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    return static_cast<T>(x);
  }
}

// The type in which sums and products of T are computed: integers modulo 2^64, which wraps around
// instead of being undefined; floats in T itself.
template <class T>
using Modular = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

// result = f(x), with f from double to double.
template <class F>
Status FloatUnary(const ir::EvalContext& context, F&& f) {
  const ir::Tensor& x = context.in(0);
  ir::Tensor& y = context.out();
  const auto run = [&]<class T>(T) {
    const std::span<const T> from = x.values<T>();
    const std::span<T> to = y.mutable_values<T>();
    context.pool->For(x.size(), kElementwiseGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(f(static_cast<double>(from[i])));
    });
  };
  if (x.dtype() == ir::DType::kF64) {
    run(double{});
  } else {
    run(float{});
  }
  return {};
}

// result = f(x) in the element type; f is generic.
template <class F>
Status NumericUnary(const ir::EvalContext& context, F&& f) {
  const ir::Tensor& x = context.in(0);
  ir::Tensor& y = context.out();
  VisitDType(x.dtype(), [&]<class T>(T) {
    const std::span<const T> from = x.values<T>();
    const std::span<T> to = y.mutable_values<T>();
    context.pool->For(x.size(), kElementwiseGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(f(from[i]));
    });
  });
  return {};
}

// result[i] = f(a, b) with broadcast, one row of the last axis at a time.
template <class T, class F>
void BroadcastLoop(const ir::Tensor& a, const ir::Tensor& b, ir::Tensor& result, ThreadPool& pool,
                   F&& f) {
  const ir::Shape& shape = result.shape();
  const T* from_a = a.values<T>().data();
  const T* from_b = b.values<T>().data();
  T* to = result.mutable_values<T>().data();
  if (a.shape() == b.shape() || a.size() == 1 || b.size() == 1) {
    const int64_t step_a = a.size() == 1 ? 0 : 1;
    const int64_t step_b = b.size() == 1 ? 0 : 1;
    pool.For(result.size(), kElementwiseGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = f(from_a[i * step_a], from_b[i * step_b]);
    });
    return;
  }
  const ir::Shape strides_a = BroadcastStrides(a.shape(), shape);
  const ir::Shape strides_b = BroadcastStrides(b.shape(), shape);
  const int64_t width = shape.back();
  const int64_t rows = width == 0 ? 0 : result.size() / width;
  const int64_t grain = std::max<int64_t>(1, kElementwiseGrain / std::max<int64_t>(width, 1));
  pool.For(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t at_a = 0, at_b = 0, rest = row;
      for (size_t d = shape.size() - 1; d-- > 0;) {
        const int64_t index = rest % shape[d];
        rest /= shape[d];
        at_a += index * strides_a[d];
        at_b += index * strides_b[d];
      }
      const int64_t step_a = strides_a.back(), step_b = strides_b.back();
      for (int64_t i = 0; i < width; ++i) {
        to[row * width + i] = f(from_a[at_a + i * step_a], from_b[at_b + i * step_b]);
      }
    }
  });
}

// result = f(a, b) in the element type; f is generic.
template <class F>
Status NumericBinary(const ir::EvalContext& context, F&& f) {
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    BroadcastLoop<T>(context.in(0), context.in(1), context.out(), *context.pool,
                     [&](T a, T b) { return static_cast<T>(f(a, b)); });
  });
  return {};
}

}  // namespace octavo::ops
