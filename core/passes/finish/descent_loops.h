// SPDX-License-Identifier: Apache-2.0
// The loops of weight_descent.h.  Each instruction set has its own table of functions; all tables
// give equal bits.
#pragma once

#include <cstdint>

namespace octavo::passes {

inline constexpr int64_t kPackedColumns = 16;

struct DescentLoops {
  // to[i] += factor * from[i]
  void (*add_scaled)(double factor, const double* from, double* to, int64_t count) = nullptr;
  // to[i] += factors[j] * rows[j][i] for each of `count` rows in turn, i in [begin, end)
  void (*add_rows)(const double* const* rows, const double* factors, int64_t count, int64_t begin,
                   int64_t end, double* to) = nullptr;
  // to[c][i] = sum over j, in order, of factors[c][j] * rows[j][i]; a square matrix of `terms`.
  // `packed` has room for kPackedColumns * terms elements.
  void (*multiply)(const double* const* factors, const double* const* rows, double* const* to,
                   int64_t channels, int64_t terms, double* packed) = nullptr;
};

namespace portable {
extern const DescentLoops kDescentLoops;
}
namespace avx2 {
extern const DescentLoops kDescentLoops;
}
namespace avx512 {
extern const DescentLoops kDescentLoops;
}

}  // namespace octavo::passes
