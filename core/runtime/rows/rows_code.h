// Reals from codes and back, as the loops of rows_*.h want them: on any instruction set with the
// same bits.  All of it has internal linkage.
#pragma once

#include "core/runtime/rows/rows.h"

namespace octavo::runtime::rows {
namespace {

// Rounds to even for |x| < 2^22: the sum's last mantissa bit is worth 1.
inline int32_t RoundToEven(float x) {
  constexpr float kShift = 0x1.8p23f;
  const float shifted = x + kShift;
  return __builtin_bit_cast(int32_t, shifted) - __builtin_bit_cast(int32_t, kShift);
}

inline float Real(uint8_t code, const Codes& codes) {
  return static_cast<float>(static_cast<int32_t>(static_cast<uint8_t>(code ^ codes.flip)) -
                            codes.zero_point) *
         codes.scale;
}

// `x` is in steps; NaN gives the zero point.
inline uint8_t Code(float x, const Codes& codes) {
  const float low = static_cast<float>(-codes.zero_point);
  const float high = static_cast<float>(255 - codes.zero_point);
  x = x == x ? x : 0.0f;
  x = x < low ? low : x;
  x = x > high ? high : x;
  return static_cast<uint8_t>(RoundToEven(x) + codes.zero_point) ^ codes.flip;
}

void Quantize(const float* __restrict x, int64_t count, Codes codes, uint8_t* __restrict y) {
  for (int64_t i = 0; i < count; ++i) y[i] = Code(x[i] / codes.scale, codes);
}

}  // namespace
}  // namespace octavo::runtime::rows
