// SPDX-License-Identifier: Apache-2.0
// Elementary functions on one float operand, a block at a time.
#pragma once

#include <algorithm>
#include <span>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {

// result = f(x); f replaces at most kUnaryBlock numbers in place per call.
inline constexpr int64_t kUnaryBlock = 512;
template <class F>
Status FloatUnaryBlocks(const ir::EvalContext& context, F&& f) {
  const ir::Tensor& x = context.in(0);
  ir::Tensor& y = context.out();
  const auto run = [&]<class T>(T) {
    const std::span<const T> from = x.values<T>();
    const std::span<T> to = y.mutable_values<T>();
    context.pool->For(x.size(), kElementwiseGrain, [&](int64_t begin, int64_t end) {
      double block[kUnaryBlock];
      for (int64_t first = begin; first < end; first += kUnaryBlock) {
        const int64_t count = std::min(kUnaryBlock, end - first);
        for (int64_t i = 0; i < count; ++i) block[i] = static_cast<double>(from[first + i]);
        f(std::span<double>(block, static_cast<size_t>(count)));
        for (int64_t i = 0; i < count; ++i) to[first + i] = static_cast<T>(block[i]);
      }
    });
  };
  if (x.dtype() == ir::DType::kF64) {
    run(double{});
  } else {
    run(float{});
  }
  return {};
}

}  // namespace octavo::ops
