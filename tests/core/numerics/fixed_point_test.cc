// SPDX-License-Identifier: Apache-2.0
// Requantization formulas of the numerics modes, against golden vectors and gemmlowp.
#include "core/numerics/fixed_point.h"

#include <gemmlowp/fixedpoint/fixedpoint.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace octavo::numerics {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kEdges[] = {kMin, kMin + 1, -(1 << 30), -5, -4, -3, -2,      -1,
                              0,    1,        2,          3,  4,  5,  1 << 30, kMax};

// Edges, ties of every shift, and random numbers of every magnitude.
std::vector<int32_t> Numbers() {
  std::vector<int32_t> numbers(std::begin(kEdges), std::end(kEdges));
  std::mt19937 random(1);
  for (int bits = 0; bits < 31; ++bits) {
    for (const int32_t near : {-1, 0, 1}) {
      numbers.push_back((1 << bits) + near);
      numbers.push_back(-(1 << bits) + near);
    }
    for (int i = 0; i < 20; ++i) numbers.push_back(static_cast<int32_t>(random()) >> bits);
  }
  return numbers;
}

TEST(FixedPoint, APairIsAFractionOfOneHalfAndMoreAndAShift) {
  EXPECT_EQ(ToFixedPoint(0.5), (FixedPoint{1 << 30, 0}));
  EXPECT_EQ(ToFixedPoint(1.0), (FixedPoint{1 << 30, 1}));
  EXPECT_EQ(ToFixedPoint(0.75), (FixedPoint{3 << 29, 0}));
  // A multiplier that rounds up to 2^31 becomes the next power of two.
  EXPECT_EQ(ToFixedPoint(1.0 - 0x1p-40), (FixedPoint{1 << 30, 1}));
  EXPECT_EQ(ToFixedPoint(0x1p-32), (FixedPoint{1 << 30, -31}));
  EXPECT_EQ(ToFixedPoint(0x1p-33), (FixedPoint{0, 0}));
  EXPECT_EQ(ToFixedPoint(0x1p29), (FixedPoint{1 << 30, 30}));
  EXPECT_EQ(ToFixedPoint(0x1p40), (FixedPoint{kMax, 30}));
  EXPECT_EQ(ToFixedPoint(0.0), (FixedPoint{0, 0}));
}

TEST(FixedPoint, ProductsAndShiftsAreGemmlowps) {
  const std::vector<int32_t> numbers = Numbers();
  for (const int32_t a : numbers) {
    for (const int32_t b : numbers) {
      ASSERT_EQ(DoublingHighMultiply(a, b), gemmlowp::SaturatingRoundingDoublingHighMul(a, b))
          << a << " " << b;
    }
    for (int exponent = 0; exponent <= 31; ++exponent) {
      ASSERT_EQ(RoundingShiftRight(a, exponent), gemmlowp::RoundingDivideByPOT(a, exponent))
          << a << " " << exponent;
    }
  }
}

TEST(FixedPoint, DoubleRoundingIsTosasFormula) {
  for (const int32_t multiplier : {1 << 30, 1518500250, kMax}) {
    for (int shift = -31; shift <= -1; ++shift) {
      for (const int32_t x : Numbers()) {
        const int n = 31 - shift;  // 32 and more
        const __int128 half = static_cast<__int128>(1) << (n - 1);
        const __int128 sign = (x < 0 ? -1 : 1) * (__int128{1} << 30);
        const __int128 product = static_cast<__int128>(x) * multiplier;
        ASSERT_EQ(MultiplyDoubleRounding(x, {multiplier, shift}),
                  static_cast<int32_t>((product + half + sign) >> n))
            << x << " " << multiplier << " " << shift;
      }
    }
  }
}

TEST(FixedPoint, SingleRoundingIsExactUpToShift62) {
  for (const int32_t multiplier : {1 << 30, 1518500250, kMax}) {
    for (const int n : {1, 30, 31, 32, 62}) {
      for (const int32_t x : Numbers()) {
        const __int128 half = static_cast<__int128>(1) << (n - 1);
        const __int128 exact = (static_cast<__int128>(x) * multiplier + half) >> n;
        const __int128 held = exact < kMin ? kMin : exact > kMax ? kMax : exact;
        ASSERT_EQ(MultiplySingleRounding(x, {multiplier, 31 - n}), static_cast<int32_t>(held));
      }
    }
  }
}

TEST(FixedPoint, TiesGoWhereEachFormulaSaysTheyDo) {
  const FixedPoint half = ToFixedPoint(0.5), quarter = ToFixedPoint(0.25);
  // -0.5, 0.5, 1.5: with a single rounding, or with a product without shift, ties round upwards.
  EXPECT_EQ(MultiplySingleRounding(-1, half), 0);
  EXPECT_EQ(MultiplySingleRounding(1, half), 1);
  EXPECT_EQ(MultiplySingleRounding(3, half), 2);
  // With double rounding, a shift rounds ties away from zero.
  EXPECT_EQ(MultiplyDoubleRounding(-2, quarter), -1);
  EXPECT_EQ(MultiplyDoubleRounding(2, quarter), 1);
  EXPECT_EQ(MultiplySingleRounding(-2, quarter), 0);
  EXPECT_EQ(ShiftRounding(-2, -2), 0);
  EXPECT_EQ(ShiftRounding(2, -2), 1);
  EXPECT_EQ(RoundHalfAway(-0.5f), -1);
  EXPECT_EQ(RoundHalfAway(2.5f), 3);
}

TEST(FixedPoint, LeftShiftsSaturate) {
  EXPECT_EQ(MultiplyDoubleRounding(kMax, {1 << 30, 30}), 1 << 30);
  EXPECT_EQ(MultiplyDoubleRounding(kMin, {1 << 30, 30}), -(1 << 30));
  EXPECT_EQ(MultiplySingleRounding(kMax, {kMax, 30}), kMax);
  EXPECT_EQ(ShiftRounding(3, 31), kMax);
  EXPECT_EQ(ShiftRounding(-3, 31), kMin);
  EXPECT_EQ(ShiftRounding(0, 99), 0);
}

TEST(FixedPoint, GlowTransformsPowersOfTwoToShiftsAlone) {
  EXPECT_EQ(ToGlowTransform(8.0f), (GlowTransform{0, 0, 8}));
  EXPECT_EQ(ToGlowTransform(1.0f), (GlowTransform{0, 0, 1}));
  EXPECT_EQ(ToGlowTransform(0.125f), (GlowTransform{0, 3, 1}));
  EXPECT_EQ(Transform(12, ToGlowTransform(0.125f)), 2);    // 1.5 ties up
  EXPECT_EQ(Transform(-12, ToGlowTransform(0.125f)), -1);  // -1.5 ties up
}

TEST(FixedPoint, GlowTransformsAScaleToAtMost15BitsAfterAndSome) {
  const GlowTransform third = ToGlowTransform(1.0f / 3);
  EXPECT_EQ(third.scale, 341);  // 1/3 * 2^10, no longer below 256
  EXPECT_EQ(third.after, 10);
  EXPECT_EQ(third.before, 0);
  EXPECT_EQ(Transform(300, third), 100);
}

}  // namespace
}  // namespace octavo::numerics
