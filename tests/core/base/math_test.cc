// SPDX-License-Identifier: Apache-2.0
// Compares the elementary functions with the C library's, and checks their special values.
#include "core/base/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace octavo::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Row {
  const char* name;
  double (*own)(double);
  double (*libm)(double);
  double low, high;
  double tolerance = 1e-14;  // relative
};

double LibmSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Row kTable[] = {
    {"Exp", Exp, std::exp, -740, 709},
    {"Exp near 0", Exp, std::exp, -1, 1, 5e-16},
    {"Expm1", Expm1, std::expm1, -3, 3},
    {"Expm1 tiny", Expm1, std::expm1, -1e-8, 1e-8},
    {"Log", Log, std::log, 1e-30, 1e30, 1e-15},
    {"Log near 1", Log, std::log, 0.5, 2, 2e-15},
    {"Log1p", Log1p, std::log1p, -0.9, 10},
    {"Log1p tiny", Log1p, std::log1p, -1e-9, 1e-9},
    {"Tanh", Tanh, std::tanh, -25, 25},
    {"Tanh tiny", Tanh, std::tanh, -1e-6, 1e-6},
    {"Sinh", Sinh, std::sinh, -705, 705},
    {"Cosh", Cosh, std::cosh, -705, 705},
    {"Sigmoid", Sigmoid, LibmSigmoid, -700, 700},
    {"Erf", Erf, std::erf, -7, 7},
    {"Erf small", Erf, std::erf, -0.6, 0.6},
    {"Erf tiny", Erf, std::erf, -1e-9, 1e-9},
    {"Atan", Atan, std::atan, -50, 50},
    {"Atan tiny", Atan, std::atan, -1e-7, 1e-7},
};

TEST(Math, AgreesWithTheCLibraryWithinAFewUlps) {
  std::mt19937_64 random(7);
  for (const Row& row : kTable) {
    std::uniform_real_distribution<double> draw(row.low, row.high);
    double worst = 0, at = 0;
    for (int i = 0; i < 20000; ++i) {
      const double x = draw(random), want = row.libm(x);
      if (std::fabs(want) < 1e-300) continue;  // subnormal results have fewer digits
      const double error = std::fabs(row.own(x) - want) / std::fabs(want);
      if (error > worst) worst = error, at = x;
    }
    EXPECT_LE(worst, row.tolerance) << row.name << " at " << at;
  }
}

TEST(Math, SineAndCosineHaveSmallAbsoluteError) {
  std::mt19937_64 random(8);
  for (const double range : {1.0, 10.0, 1e3, 1e6}) {
    std::uniform_real_distribution<double> draw(-range, range);
    for (int i = 0; i < 5000; ++i) {
      const double x = draw(random);
      ASSERT_NEAR(Sin(x), std::sin(x), 1e-15) << x;
      ASSERT_NEAR(Cos(x), std::cos(x), 1e-15) << x;
      ASSERT_NEAR(Tan(x), std::tan(x), 1e-14 * (1 + std::tan(x) * std::tan(x))) << x;
    }
  }
}

TEST(Math, PowAgreesWithTheCLibrary) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> base(1e-6, 1e6), exponent(-6, 6);
  for (int i = 0; i < 50000; ++i) {
    const double x = base(random), y = exponent(random), want = std::pow(x, y);
    const double bound = 1e-15 + 4e-16 * std::fabs(y * std::log(x));
    ASSERT_LE(std::fabs(Pow(x, y) - want), bound * want) << x << "^" << y;
  }
}

TEST(Math, SmallIntegerPowersAreProductsAndTheHalfIsTheSquareRoot) {
  for (const double x : {-3.7, -1.0, 0.1, 1.1, 1e20, 123456.789}) {
    EXPECT_EQ(Pow(x, 1), x);
    EXPECT_EQ(Pow(x, 2), x * x);
    EXPECT_EQ(Pow(x, 3), x * (x * x));
    EXPECT_EQ(Pow(x, -1), 1 / x);
    if (x > 0) {
      EXPECT_EQ(Pow(x, 0.5), std::sqrt(x));
    }
  }
}

TEST(Math, PowHasTheSpecialCasesOfIeee) {
  const double values[] = {
      -kInfinity, -2.5, -2, -1, -0.5, -0.0,      0.0,
      0.5,        1,    2,  3,  80,   kInfinity, std::numeric_limits<double>::quiet_NaN()};
  const double exponents[] = {-kInfinity, -81,  -3, -2, -0.5, -0.0, 0.0,
                              0.5,        0.75, 1,  2,  3,    81,   kInfinity};
  for (const double x : values) {
    for (const double y : exponents) {
      const double want = std::pow(x, y), own = Pow(x, y);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(own)) << x << "^" << y;
      } else if (std::isinf(want) || want == 0) {
        EXPECT_EQ(own, want) << x << "^" << y;
        EXPECT_EQ(std::signbit(own), std::signbit(want)) << x << "^" << y;
      } else {
        EXPECT_NEAR(own / want, 1, 1e-13) << x << "^" << y;
      }
    }
  }
}

TEST(Math, TheLimitsAreReached) {
  EXPECT_EQ(Exp(0), 1);
  EXPECT_EQ(Exp(kInfinity), kInfinity);
  EXPECT_EQ(Exp(-kInfinity), 0);
  EXPECT_EQ(Exp(-745.0), std::exp(-745.0));
  EXPECT_EQ(Log(0), -kInfinity);
  EXPECT_EQ(Log(1), 0);
  EXPECT_TRUE(std::isnan(Log(-1)));
  EXPECT_EQ(Log(kInfinity), kInfinity);
  EXPECT_EQ(Log1p(-1), -kInfinity);
  EXPECT_EQ(Tanh(kInfinity), 1);
  EXPECT_EQ(Tanh(-40), -1);
  EXPECT_EQ(Sigmoid(kInfinity), 1);
  EXPECT_EQ(Sigmoid(-kInfinity), 0);
  EXPECT_EQ(Sigmoid(0), 0.5);
  EXPECT_EQ(Erf(kInfinity), 1);
  EXPECT_TRUE(std::signbit(Erf(-0.0)));
  EXPECT_EQ(Sinh(-kInfinity), -kInfinity);
  EXPECT_EQ(Cosh(kInfinity), kInfinity);
  EXPECT_NEAR(Atan(kInfinity), std::atan(kInfinity), 1e-16);
  EXPECT_TRUE(std::isnan(Sin(kInfinity)));
  for (const auto function : {Exp, Expm1, Log, Log1p, Tanh, Sinh, Cosh, Sigmoid, Erf, Sin, Atan}) {
    EXPECT_TRUE(std::isnan(function(std::nan(""))));
  }
}

}  // namespace
}  // namespace octavo::math
