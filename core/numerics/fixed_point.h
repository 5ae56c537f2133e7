// SPDX-License-Identifier: Apache-2.0
// Integer multiplication by a real number: one small function per published formula.  A multiplier
// m is converted to integers once; only that conversion uses floating point.
#pragma once

#include <cstdint>

#include "core/ir/type.h"

namespace octavo::numerics {

// m = multiplier * 2^(shift - 31), with multiplier in [2^30, 2^31) or 0 (TFLite's
// QuantizeMultiplier; TOSA uses n = 31 - shift).
struct FixedPoint {
  int32_t multiplier = 0;
  int shift = 0;

  bool operator==(const FixedPoint&) const = default;
};
// (f, s) = frexp(m), M = round_half_away(f * 2^31); s < -31 gives 0, s > 30 the greatest pair.
FixedPoint ToFixedPoint(double m);

// x saturated to int32.
int32_t Saturate32(int64_t x);
// gemmlowp SaturatingRoundingDoublingHighMul:
// trunc((a * b + (a * b >= 0 ? 2^30 : 1 - 2^30)) / 2^31).
int32_t DoublingHighMultiply(int32_t a, int32_t b);
// gemmlowp RoundingDivideByPOT, 0 <= exponent <= 31: ties away from zero.
int32_t RoundingShiftRight(int32_t x, int exponent);

// TFLite's MultiplyByQuantizedMultiplier with double rounding:
// RDivPOT(SRDHM(x << max(s, 0), M), max(-s, 0)); the left shift saturates.
int32_t MultiplyDoubleRounding(int64_t x, FixedPoint m);
// The same with TFLITE_SINGLE_ROUNDING, TOSA's SINGLE_ROUND: floor((x * M + 2^(n-1)) / 2^n).
int32_t MultiplySingleRounding(int64_t x, FixedPoint m);

// TFLite's MultiplyByQuantizedMultiplier for a 64-bit sum, in either rounding: reduces the
// multiplier to 16 bits, r = min((M + 2^15) >> 16, 2^15 - 1), and computes
// floor((x * r + 2^(14-s)) / 2^(15-s)), saturating.  Requires |x| < 2^47 and -31 <= s <= 7.
int32_t MultiplyWide(int64_t x, FixedPoint m);

// Glow's quantizeScaleOffset32To8 (LLVM CPU backend):
// (((x >> before) * scale) + (after ? 1 << (after - 1) : 0)) >> after.
struct GlowTransform {
  int before = 0, after = 0;
  int32_t scale = 1;

  bool operator==(const GlowTransform&) const = default;
};
GlowTransform ToGlowTransform(float m);
int32_t Transform(int64_t x, GlowTransform m);

// Whether m is a power of two, and the exponent e of m = 2^e.
bool IsPowerOfTwo(float m);
int ExponentOf(float m);
// x * 2^exponent, ties to +infinity, saturating.
int32_t ShiftRounding(int64_t x, int exponent);

// round_half_away(x), saturated to int32; 0 for a NaN.
int32_t RoundHalfAway(float x);
// Clamps a value to a storage range.
inline int32_t Clamp(int64_t value, ir::IntegerRange range) {
  return static_cast<int32_t>(value < range.min   ? range.min
                              : value > range.max ? range.max
                                                  : value);
}

}  // namespace octavo::numerics
