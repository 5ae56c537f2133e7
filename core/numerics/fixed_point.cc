// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/fixed_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace octavo::numerics {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

int32_t SaturatingShiftLeft(int64_t x, int bits) {
  return Saturate32(static_cast<int64_t>(Saturate32(x)) * (int64_t{1} << bits));
}

}  // namespace

FixedPoint ToFixedPoint(double m) {
  if (!(m > 0)) return {};
  int shift = 0;
  const double fraction = std::frexp(m, &shift);
  int64_t multiplier = std::llround(fraction * 0x1p31);
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  if (shift > 30) return {kMax, 30};
  return {static_cast<int32_t>(multiplier), shift};
}

int32_t Saturate32(int64_t x) {
  return static_cast<int32_t>(std::clamp(x, int64_t{kMin}, int64_t{kMax}));
}

int32_t DoublingHighMultiply(int32_t a, int32_t b) {
  if (a == kMin && b == kMin) return kMax;
  const int64_t product = int64_t{a} * b;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

int32_t RoundingShiftRight(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  const int64_t wide = x;
  return static_cast<int32_t>((wide >> exponent) + ((wide & mask) > threshold ? 1 : 0));
}

int32_t MultiplyDoubleRounding(int64_t x, FixedPoint m) {
  const int left = std::max(m.shift, 0), right = std::max(-m.shift, 0);
  return RoundingShiftRight(DoublingHighMultiply(SaturatingShiftLeft(x, left), m.multiplier),
                            right);
}

int32_t MultiplySingleRounding(int64_t x, FixedPoint m) {
  const int n = 31 - m.shift;
  const int64_t product = int64_t{Saturate32(x)} * m.multiplier;  // |product| < 2^62
  return Saturate32((product + (int64_t{1} << (n - 1))) >> n);
}

int32_t MultiplyWide(int64_t x, FixedPoint m) {
  const int64_t reduced =
      m.multiplier < 0x7FFF0000 ? (int64_t{m.multiplier} + (1 << 15)) >> 16 : 0x7FFF;
  const int right = 15 - m.shift;
  return Saturate32((x * reduced + (int64_t{1} << (right - 1))) >> right);
}

GlowTransform ToGlowTransform(float m) {
  if (IsPowerOfTwo(m)) {
    const int exponent = ExponentOf(m);
    if (exponent > 30) return {0, 0, kMax};
    if (exponent > 0) return {0, 0, int32_t{1} << exponent};
    return {0, std::min(-exponent, 31), 1};
  }
  GlowTransform transform;
  float scale = m;
  while (scale < 0.5f || (scale < 256 && transform.after < 15)) {
    scale *= 2;
    ++transform.after;
  }
  while (scale < 255 && transform.before < transform.after / 2) {
    scale *= 2;
    ++transform.before;
  }
  transform.scale = Saturate32(std::llround(std::min(scale, 0x1p31f)));
  return transform;
}

int32_t Transform(int64_t x, GlowTransform m) {
  const int64_t product = (int64_t{Saturate32(x)} >> m.before) * m.scale;
  // A shift by more than 62 bits would leave only the sign.
  const int after = std::min(m.after, 62);
  const int64_t half = after > 0 ? int64_t{1} << (after - 1) : 0;
  return Saturate32((product + half) >> after);
}

bool IsPowerOfTwo(float m) {
  int exponent = 0;
  return std::frexp(m, &exponent) == 0.5f;
}

int ExponentOf(float m) { return std::ilogb(m); }

int32_t ShiftRounding(int64_t x, int exponent) {
  if (exponent >= 0) {
    if (exponent > 31) return x == 0 ? 0 : x < 0 ? kMin : kMax;
    return SaturatingShiftLeft(x, exponent);
  }
  const int right = std::min(-exponent, 62);
  const int64_t half = int64_t{1} << (right - 1);
  // Sums of products are far below 2^62, so the addition does not overflow.
  return Saturate32((x + half) >> right);
}

int32_t RoundHalfAway(float x) {
  const double rounded = std::round(double{x});
  if (std::isnan(rounded)) return 0;
  return static_cast<int32_t>(std::clamp(rounded, double{kMin}, double{kMax}));
}

}  // namespace octavo::numerics
