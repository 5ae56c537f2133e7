// SPDX-License-Identifier: Apache-2.0
// Matrix-vector products with packed rows, for RNN, GRU and LSTM: one function table per
// instruction set, all with the same results.
#pragma once

#include <cstdint>

namespace octavo::ops {

inline constexpr int64_t kRowsOfTile = 32;

// sums[k] += tile[i * kRowsOfTile + k] * x[i] for i from 0 to count - 1 in this order; the product
// and the sum are each rounded.
struct RecurrentLoops {
  void (*narrow)(const float* tile, const double* x, int64_t count, double* sums) = nullptr;
  void (*wide)(const double* tile, const double* x, int64_t count, double* sums) = nullptr;
};

namespace portable {
extern const RecurrentLoops kRecurrentLoops;
}
namespace avx2 {
extern const RecurrentLoops kRecurrentLoops;
}
namespace avx512 {
extern const RecurrentLoops kRecurrentLoops;
}

}  // namespace octavo::ops
