// SPDX-License-Identifier: Apache-2.0
// Dequantizes and quantizes one element with the same bits on every instruction set.  All of it has
// internal linkage.
#pragma once

#include "core/runtime/simd/kernels.h"

namespace octavo::runtime::simd {
namespace {

// Rounds |x| < 2^22 to nearest, ties to even: the last mantissa bit of the sum has the value 1.
inline int32_t RoundToEven(float x) {
  constexpr float kShift = 0x1.8p23f;
  const float shifted = x + kShift;
  return __builtin_bit_cast(int32_t, shifted) - __builtin_bit_cast(int32_t, kShift);
}

inline float Dequantized(uint8_t value, const Quant& quant) {
  return static_cast<float>(static_cast<int32_t>(static_cast<uint8_t>(value ^ quant.flip)) -
                            quant.zero_point) *
         quant.scale;
}

// Quantizes x, which is already divided by the scale; a NaN becomes the zero point.
inline uint8_t Quantized(float x, const Quant& quant) {
  const float low = static_cast<float>(-quant.zero_point);
  const float high = static_cast<float>(255 - quant.zero_point);
  x = x == x ? x : 0.0f;
  x = x < low ? low : x;
  x = x > high ? high : x;
  return static_cast<uint8_t>(RoundToEven(x) + quant.zero_point) ^ quant.flip;
}

void Quantize(const float* __restrict x, int64_t count, Quant quant, uint8_t* __restrict y) {
  for (int64_t i = 0; i < count; ++i) y[i] = Quantized(x[i] / quant.scale, quant);
}

}  // namespace
}  // namespace octavo::runtime::simd
