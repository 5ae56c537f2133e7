// SPDX-License-Identifier: Apache-2.0
#include "core/profile/choose_params.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace octavo::profile {
namespace {

using ir::DType;
using target::SchemeKind;

TEST(ChooseParams, FollowsTheFormulas) {
  struct Case {
    float min, max;
    Scheme scheme;
    float scale;
    int32_t zero_point;
  };
  const Case cases[] = {
      {0, 255, {SchemeKind::kAsymmetric, DType::kU8}, 1, 0},
      {-1, 1, {SchemeKind::kAsymmetric, DType::kU8}, 2.0f / 255, 128},
      {-1, 1, {SchemeKind::kAsymmetric, DType::kI8}, 2.0f / 255, 0},
      {2, 10, {SchemeKind::kAsymmetric, DType::kU8}, 10.0f / 255, 0},  // widened to include zero
      {-10, -2, {SchemeKind::kAsymmetric, DType::kU8}, 10.0f / 255, 255},
      {-1, 3, {SchemeKind::kAsymmetric, DType::kI8}, 4.0f / 255, -64},  // -128 + 63.75
      {-2, 1, {SchemeKind::kSymmetric, DType::kI8, true}, 2.0f / 127, 0},
      {-2, 1, {SchemeKind::kSymmetric, DType::kI8}, 2.0f / 128, 0},
      {-1, 2, {SchemeKind::kSymmetric, DType::kU8}, 2.0f / 127, 128},
      {0, 2, {SchemeKind::kSymmetricUint8, DType::kU8}, 2.0f / 255, 0},
      {-1, 2, {SchemeKind::kSymmetricUint8, DType::kU8}, 2.0f / 127, 128},
      {-1, 1, {SchemeKind::kPow2, DType::kI8, true}, 1.0f / 64, 0},  // 1/127 rounds up
      {0, 0, {SchemeKind::kSymmetric, DType::kI8, true}, 1, 0},
      {0, 0, {SchemeKind::kAsymmetric, DType::kU8}, 1, 128},
  };
  for (const Case& c : cases) {
    const Params params = ChooseParams(c.min, c.max, c.scheme);
    EXPECT_FLOAT_EQ(params.scale, c.scale) << c.min << ".." << c.max;
    EXPECT_EQ(params.zero_point, c.zero_point) << c.min << ".." << c.max;
  }
}

TEST(ChooseParams, GlowTakesTheZeroPointOfTheNearerEnd) {
  Scheme scheme{.dtype = DType::kI8, .glow_zero = true};
  // From the minimum: -128 + 255/4 = -64.25; from the maximum: 127 - 191.25 = -64.25.
  EXPECT_EQ(ChooseParams(-1, 3, scheme).zero_point, -64);
  // Glow computes -1/2 for [-a, a] and rounds it away from zero; else it is 0 by definition.
  EXPECT_EQ(ChooseParams(-1, 1, scheme).zero_point, -1);
  scheme.glow_zero = false;
  EXPECT_EQ(ChooseParams(-1, 1, scheme).zero_point, 0);
  EXPECT_EQ(RoundUpToPowerOfTwo(0.25f), 0.25f);
  EXPECT_EQ(RoundUpToPowerOfTwo(0.26f), 0.5f);
}

TEST(ChooseParams, NoScaleIsZeroSubnormalOrInfinite) {
  for (const float max : {1e-45f, 1e-38f, 1e-30f, 1.0f, 3.4e38f}) {
    for (const float min : {0.0f, -max}) {
      for (const SchemeKind kind :
           {SchemeKind::kAsymmetric, SchemeKind::kSymmetric, SchemeKind::kPow2}) {
        const Params params = ChooseParams(min, max, {kind, DType::kI8, true});
        EXPECT_TRUE(std::isnormal(params.scale)) << min << ".." << max;
        EXPECT_TRUE(std::isnormal(params.scale * params.scale) || params.scale > 1) << max;
      }
    }
  }
}

TEST(ChooseParams, TheEndsOfTheRangeAreStoredWithinHalfAStep) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> draw(-10, 10);
  for (int i = 0; i < 2000; ++i) {
    const float a = draw(generator), b = draw(generator);
    const float min = std::min(a, b), max = std::max(a, b);
    for (const DType dtype : {DType::kU8, DType::kI8, DType::kI16}) {
      const Params params = ChooseParams(min, max, {SchemeKind::kAsymmetric, dtype});
      const ir::IntegerRange range = ir::IntegerRangeOf(dtype);
      const double low = (static_cast<double>(range.min) - params.zero_point) * params.scale;
      const double high = (static_cast<double>(range.max) - params.zero_point) * params.scale;
      EXPECT_LE(low - 0.5001 * params.scale, min);
      EXPECT_GE(high + 0.5001 * params.scale, max);
    }
  }
}

Entry EntryOf(const std::vector<float>& values) {
  Histogram histogram;
  histogram.Add(values);
  return {histogram.min(), histogram.max(), histogram, 0};
}

TEST(Calibrate, PercentileCutsAnOutlierAndMinMaxDoesNot) {
  std::vector<float> values;
  for (int i = 0; i < 10000; ++i) values.push_back(static_cast<float>(i % 100) / 100);
  values.push_back(50);
  const Scheme scheme;
  const Entry entry = EntryOf(values);
  EXPECT_EQ(Calibrate(entry, {}, scheme).max, 50);
  EXPECT_LT(Calibrate(entry, *ParseCalibration("percentile:99.9"), scheme).max, 1.1f);
  EXPECT_EQ(Calibrate(entry, *ParseCalibration("percentile:100"), scheme).max, 50);
}

std::vector<float> NormalValues(size_t count) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

TEST(Calibrate, SearchesNarrowTheRangeOfAHeavyTail) {
  std::vector<float> values = NormalValues(20000);
  values.push_back(40);
  const Scheme scheme{SchemeKind::kSymmetric, DType::kI8, true};
  const Entry entry = EntryOf(values);
  const CalibratedRange range = Calibrate(entry, *ParseCalibration("mse"), scheme);
  EXPECT_LT(range.max, 39);
  EXPECT_GT(range.max, 1);
}

TEST(Calibrate, EntropyKeepsNearlyAllElementsOfARelu) {
  std::vector<float> values = NormalValues(200000);
  for (float& value : values) value = std::max(0.0f, value);
  const Entry entry = EntryOf(values);
  const CalibratedRange range = Calibrate(entry, *ParseCalibration("entropy"), {});
  const auto outside = std::ranges::count_if(values, [&](float x) { return x > range.max; });
  EXPECT_LE(outside, 20);
}

TEST(Calibrate, EntropyRefusesARangeOfTwiceTheLeastSquaredError) {
  std::vector<float> values = NormalValues(200000);
  values.push_back(40);
  // One element of 200,001 would cost most of the error.
  const Entry entry = EntryOf(values);
  EXPECT_GT(Calibrate(entry, *ParseCalibration("entropy"), {}).max, 20);
}

TEST(Calibrate, WithoutAHistogramMinAndMaxServeAndItIsSaid) {
  const CalibratedRange range =
      Calibrate(Entry{-1, 2, std::nullopt, 0}, {Calibration::Method::kMse}, {});
  EXPECT_EQ(range.max, 2);
  EXPECT_TRUE(range.used_min_max);
}

TEST(Calibration, OnlyItsOwnNamesAreParsed) {
  for (const char* name : {"minmax", "percentile:99.9", "percentile:100", "mse", "entropy"}) {
    const auto calibration = ParseCalibration(name);
    ASSERT_TRUE(calibration) << name;
    EXPECT_EQ(Name(*calibration), name);
  }
  for (const char* name :
       {"average", "percentile:", "percentile:30", "percentile:9x", "percentile:nan", ""}) {
    EXPECT_FALSE(ParseCalibration(name)) << name;
  }
}

}  // namespace
}  // namespace octavo::profile
