// SPDX-License-Identifier: Apache-2.0
// Compares fixed-point curves with gemmlowp's, bit for bit, and with the functions in double.
#include "core/numerics/fixed_curve.h"

#include <gemmlowp/fixedpoint/fixedpoint.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace octavo::numerics {
namespace {

constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

template <int bits>
using Fixed = gemmlowp::FixedPoint<int32_t, bits>;

std::vector<int32_t> Negatives() {
  std::vector<int32_t> numbers = {0, -1, -2, -kMax, -(1 << 30)};
  std::mt19937 random(3);
  for (int shift = 0; shift < 31; ++shift) {
    for (const int32_t near : {-1, 0, 1}) numbers.push_back(std::min(0, -(1 << shift) + near));
    for (int i = 0; i < 300; ++i) {
      numbers.push_back(-static_cast<int32_t>((random() & 0x7fffffff) >> shift));
    }
  }
  return numbers;
}

template <int bits>
void ComparesExp() {
  for (const int32_t x : Negatives()) {
    ASSERT_EQ(FixedExp(x, bits), gemmlowp::exp_on_negative_values(Fixed<bits>::FromRaw(x)).raw())
        << x << " of " << bits << " integer bits";
  }
}

TEST(FixedCurve, TheExponentialIsGemmlowps) {
  ComparesExp<0>();
  ComparesExp<3>();
  ComparesExp<4>();
  ComparesExp<5>();
  ComparesExp<6>();
}

TEST(FixedCurve, TheReciprocalIsGemmlowps) {
  for (const int32_t x : Negatives()) {
    const int32_t positive = -x;
    ASSERT_EQ(FixedReciprocalOfOnePlus(positive),
              gemmlowp::one_over_one_plus_x_for_x_in_0_1(Fixed<0>::FromRaw(positive)).raw())
        << positive;
  }
}

TEST(FixedCurve, TheLogisticAndTheTangentAreGemmlowpsAndNearTheFunctions) {
  for (const int32_t negative : Negatives()) {
    for (const int32_t x : {negative, -negative}) {
      const auto fixed = Fixed<4>::FromRaw(x);
      ASSERT_EQ(FixedLogistic(x, 4), gemmlowp::logistic(fixed).raw()) << x;
      ASSERT_EQ(FixedTanh(x, 4), gemmlowp::tanh(fixed).raw()) << x;
      const double real = std::ldexp(x, -27);
      ASSERT_NEAR(std::ldexp(FixedLogistic(x, 4), -31), 1 / (1 + std::exp(-real)), 1e-6);
      ASSERT_NEAR(std::ldexp(FixedTanh(x, 4), -31), std::tanh(real), 1e-6);
    }
  }
}

}  // namespace
}  // namespace octavo::numerics
