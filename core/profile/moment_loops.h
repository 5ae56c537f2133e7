// SPDX-License-Identifier: Apache-2.0
// The loops of moments.h.  Each instruction set has its own table of functions; all tables give
// equal bits, since each sum has one order and rounds products and sums separately.
#pragma once

#include <cstdint>

namespace octavo::profile {

// Columns as rows of a matrix [count][stride], of which `terms` terms from `begin` on are a block.
struct SecondCall {
  const float* columns = nullptr;
  int64_t count = 0, stride = 0;
  int64_t begin = 0, terms = 0;
  double* sums = nullptr;  // the block's lower triangle, by rows
};

struct MomentLoops {
  // Adds the products of terms k in [first, last) of the block with all up to k.
  void (*second)(const SecondCall& call, int64_t first, int64_t last) = nullptr;
  // sums[k] += the sum of term k over the columns.
  void (*first)(const float* columns, int64_t count, int64_t stride, double* sums) = nullptr;
};

namespace portable {
extern const MomentLoops kMomentLoops;
}
namespace avx2 {
extern const MomentLoops kMomentLoops;
}
namespace avx512 {
extern const MomentLoops kMomentLoops;
}

}  // namespace octavo::profile
