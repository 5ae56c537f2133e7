// AveragePool and GlobalAveragePool as sums of centered codes, in plain layout; what becomes of a
// sum is the caller's.
#pragma once

#include <algorithm>

#include "core/runtime/kernel.h"
#include "core/runtime/pool_window.h"
#include "core/runtime/product.h"

namespace octavo::runtime {

// The window: `inside` taps that lie in the operand, and `count` taps that the mean divides by.
struct PoolSum {
  int64_t sum = 0;  // of q - z
  int64_t inside = 0, count = 0;
};

struct PoolMean {
  PoolAxis height = {}, width = {};
  bool padding_counts = false;

  // Of a node whose operand has rank 3 or 4.
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

// Runs the node; code_of(PoolSum) is the code of a window.
template <class F>
Prepared RunPoolMean(const NodeView& view, F code_of) {
  return Prepared{.run = [mean = PoolMean::Of(view), zero = view.in(0).quant->zero_point(),
                          code_of](const StepContext& context) -> Status {
    const ir::Tensor& x = context.in(0);
    context.pool->For(context.out().size(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        StoreCode(context.out(), i, code_of(mean.SumAt(x, zero, i)));
      }
    });
    return {};
  }};
}

}  // namespace octavo::runtime
