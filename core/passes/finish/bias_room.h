// SPDX-License-Identifier: Apache-2.0
// Whether a bias fits into its integers at the scale of its accumulator.
#pragma once

#include <cmath>

namespace octavo::passes {

// The largest magnitude that a bias may have.  With 32 bits, leaves one bit free for the sum of
// products that is added to the bias.
inline double MostStoredBias(int bits) {
  return bits == 32 ? 0x1p30 : std::ldexp(1.0, bits - 1) - 1;
}

inline bool BiasFits(float bias, double scale, int bits) {
  return std::fabs(double{bias}) / scale <= MostStoredBias(bits);
}

}  // namespace octavo::passes
