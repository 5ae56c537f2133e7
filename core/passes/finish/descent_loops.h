// SPDX-License-Identifier: Apache-2.0
// The loop of weight_descent.h.  Each instruction set has its own table of functions; all tables
// give equal bits.
#pragma once

#include <cstdint>

namespace octavo::passes {

struct DescentLoops {
  // to[i] += factor * from[i]
  void (*add_scaled)(double factor, const double* from, double* to, int64_t count) = nullptr;
  // The same with four factors and results.
  void (*add_scaled_4)(const double (&factors)[4], const double* from, double* const (&to)[4],
                       int64_t count) = nullptr;
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
