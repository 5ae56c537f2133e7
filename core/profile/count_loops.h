// SPDX-License-Identifier: Apache-2.0
// The loops of count.h over one block.  Each instruction set has its own table of functions; all
// tables give equal results.
#pragma once

#include <cstdint>

namespace octavo::profile {

// The range and the number of the finite values.
struct Extent {
  float min = 0, max = 0;
  int64_t finite = 0;
};

// bins[i] = floor(values[i] * scale) - first, or `none` for a value that is not finite.
struct BinCall {
  const float* values = nullptr;
  int64_t count = 0;
  double scale = 1, first = 0;
  int32_t none = 0;
  int32_t* bins = nullptr;
};

struct CountLoops {
  Extent (*extent)(const float* values, int64_t count) = nullptr;
  void (*bins)(const BinCall& call) = nullptr;
  // As `bins`, if `scale` is at least 1 and no finite value * scale exceeds 2^22.
  void (*near_bins)(const BinCall& call) = nullptr;
};

namespace portable {
extern const CountLoops kCountLoops;
}
namespace avx2 {
extern const CountLoops kCountLoops;
}
namespace avx512 {
extern const CountLoops kCountLoops;
}

}  // namespace octavo::profile
