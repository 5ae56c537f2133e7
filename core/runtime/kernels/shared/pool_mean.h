// SPDX-License-Identifier: Apache-2.0
// AveragePool and GlobalAveragePool as sums of q - z, in plain layout; the caller requantizes them.
#pragma once

#include <algorithm>

#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/pool_window.h"
#include "core/runtime/kernels/shared/product_operands.h"

namespace octavo::runtime {

using numerics::PoolSum;

struct PoolMean {
  PoolAxis height = {}, width = {};
  bool padding_counts = false;

  // The operand must have rank 3 or 4.
  static PoolMean Of(const NodeView& view);

  void Count(int64_t row, int64_t column, PoolSum& sum) const {
    sum.inside = height.CountInside(row) * width.CountInside(column);
    const int64_t padded = height.CountPadded(row) * width.CountPadded(column);
    sum.count = std::max<int64_t>(1, padding_counts ? padded : sum.inside);
  }
  // Sum of the window at element i of the result.
  PoolSum SumAt(const ir::Tensor& x, int32_t zero_point, int64_t i) const {
    const int64_t pixels = height.out * width.out;
    const int64_t row = i % pixels / width.out, column = i % width.out;
    PoolSum sum;
    for (int64_t k = 0; k < height.kernel * width.kernel; ++k) {
      const int64_t r = height.Place(row, k / width.kernel);
      const int64_t c = width.Place(column, k % width.kernel);
      if (r < 0 || r >= height.in || c < 0 || c >= width.in) continue;
      sum.sum += x.IntAt((i / pixels * height.in + r) * width.in + c) - zero_point;
    }
    Count(row, column, sum);
    return sum;
  }
};

// Prepares the node; the callback returns the stored result for the PoolSum of a window.
template <class F>
Prepared RunPoolMean(const NodeView& view, F requantize) {
  return Prepared{.run = [mean = PoolMean::Of(view), zero = view.in(0).quant->zero_point(),
                          requantize](const StepContext& context) -> Status {
    const ir::Tensor& x = context.in(0);
    context.pool->For(context.out().size(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        StoreInteger(context.out(), i, requantize(mean.SumAt(x, zero, i)));
      }
    });
    return {};
  }};
}

}  // namespace octavo::runtime
