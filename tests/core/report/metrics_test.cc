// SPDX-License-Identifier: Apache-2.0
// The figures of a value equal their definitions, computed element by element.
#include "core/report/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/cpu.h"
#include "core/ops/quantize_math.h"

namespace octavo::report {
namespace {

using ir::Tensor;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  Tensor baseline, actual;
  ir::Type type;
};

Case MakeCase(const ir::Shape& shape, ir::Type type, float spread) {
  std::mt19937 random(7);
  std::normal_distribution<float> draw(0, spread);
  Case made{Tensor(ir::DType::kF32, shape), {}, std::move(type)};
  made.type.shape = shape;
  Tensor noisy(ir::DType::kF32, shape);
  for (int64_t i = 0; i < noisy.size(); ++i) {
    made.baseline.mutable_values<float>()[i] = draw(random);
    noisy.mutable_values<float>()[i] =
        made.baseline.values<float>()[i] + 0.05f * draw(random) / spread;
  }
  made.actual = made.type.quant ? ops::QuantizeTensor(noisy, made.type) : noisy;
  return made;
}

// The figures of two equal batches.
struct Measured {
  v1::ValueNumerics figures = {};
  int64_t saturated = 0;

  std::vector<int64_t> steps() const {
    return {figures.steps_histogram().begin(), figures.steps_histogram().end()};
  }
};

Measured Measure(const Case& made, int threads) {
  ThreadPool pool(threads);
  ValueStats stats(made.type, /*with_top1=*/true);
  stats.Add(made.baseline, made.actual, pool);
  stats.Add(made.baseline, made.actual, pool);
  return {stats.Finish(), stats.saturated()};
}

ir::Type Quantized(ir::DType dtype, float scale, int32_t zero) {
  return ir::Type{.dtype = dtype, .quant = ir::Quant::PerTensor(scale, zero)};
}

void ExpectSumsEqualTheirDefinitions(const Case& made) {
  const Tensor dequantized =
      made.type.quant ? ops::DequantizeTensor(made.actual, *made.type.quant) : made.actual;
  double signal = 0, noise = 0, abs = 0, most = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < dequantized.size(); ++i) {
    const double x = made.baseline.values<float>()[i], y = dequantized.values<float>()[i];
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    signal += x * x;
    noise += (x - y) * (x - y);
    abs += std::fabs(x - y);
    most = std::max(most, std::fabs(x - y));
    ++count;
  }
  const v1::ValueNumerics figures = Measure(made, 1).figures;
  EXPECT_NEAR(figures.sqnr_db(), 10 * std::log10(signal / noise), 1e-5);
  EXPECT_NEAR(figures.mean_abs(), abs / static_cast<double>(count), 1e-9);
  EXPECT_EQ(figures.max_abs(), most);
}

TEST(Metrics, SumsEqualTheirDefinitions) {
  ExpectSumsEqualTheirDefinitions(MakeCase({2, 3, 61, 67}, {.dtype = ir::DType::kF32}, 1));
  ExpectSumsEqualTheirDefinitions(
      MakeCase({2, 3, 61, 67}, Quantized(ir::DType::kI8, 0.02f, -5), 1));
  ExpectSumsEqualTheirDefinitions(MakeCase({70001}, Quantized(ir::DType::kU8, 0.02f, 131), 1));
  ExpectSumsEqualTheirDefinitions(MakeCase({1, 5, 3}, Quantized(ir::DType::kI16, 0.001f, 0), 1));
  ExpectSumsEqualTheirDefinitions(MakeCase({1, 9, 1, 1}, Quantized(ir::DType::kI32, 0.001f, 0), 1));
}

TEST(Metrics, StepsAreCountedFromTheNearestQuantizedValue) {
  const Case made = MakeCase({3, 7, 40}, Quantized(ir::DType::kI8, 0.02f, 3), 1.5f);
  std::vector<int64_t> steps(kStepBins);
  int64_t most = 0, saturated = 0;
  for (int64_t i = 0; i < made.actual.size(); ++i) {
    const double ideal = std::nearbyint(made.baseline.values<float>()[i] / 0.02f) + 3.0;
    const auto quantized = static_cast<double>(made.actual.values<int8_t>()[i]);
    const double nearest = std::clamp(ideal, -128.0, 127.0);
    const auto off = static_cast<int64_t>(std::fabs(nearest - quantized));
    saturated += nearest != ideal && (quantized == -128 || quantized == 127);
    most = std::max(most, off);
    steps[std::min<int64_t>(off, kStepBins - 1)] += 2;  // measured twice
  }
  const Measured measured = Measure(made, 1);
  EXPECT_EQ(measured.steps(), steps);
  EXPECT_EQ(measured.figures.max_steps(), most);
  EXPECT_EQ(measured.saturated, 2 * saturated);
}

TEST(Metrics, InfinitiesAddNothingButCountAsSaturated) {
  const ir::Type type{.dtype = ir::DType::kI8, .shape = {5}, .quant = ir::Quant::PerTensor(1, 0)};
  const Tensor baseline = Tensor::Of<float>({5}, {kNan, kInfinity, -kInfinity, 2, 3});
  const Measured measured =
      Measure({baseline, Tensor::Of<int8_t>({5}, {0, 127, -128, 2, 5}), type}, 1);
  EXPECT_EQ(measured.figures.max_abs(), 2);
  EXPECT_EQ(measured.figures.mean_abs(), 1);
  EXPECT_EQ(measured.saturated, 4);
  EXPECT_EQ(measured.steps()[0], 6);  // both infinities and the 2, twice
  EXPECT_EQ(measured.steps()[2], 2);
}

v1::ValueNumerics FiguresOf(const Tensor& baseline, const Tensor& actual) {
  return Measure({baseline, actual, {.dtype = ir::DType::kF32, .shape = baseline.shape()}}, 1)
      .figures;
}

TEST(Metrics, ExactEqualityIsExact) {
  const Tensor values = Tensor::Of<float>({4}, {1, -2, 0, kInfinity});
  EXPECT_TRUE(FiguresOf(values, values).exact());
  EXPECT_FALSE(FiguresOf(values, values).has_sqnr_db());
  const Tensor zeros = Tensor::Of<float>({2}, {0, 0});
  EXPECT_TRUE(FiguresOf(zeros, zeros).exact());
  EXPECT_TRUE(FiguresOf(Tensor(ir::DType::kF32, {0}), Tensor(ir::DType::kF32, {0})).exact());
}

TEST(Metrics, WhatDiffersOrIsNaNIsNotExact) {
  const Tensor values = Tensor::Of<float>({4}, {1, -2, 0, 3});
  for (const float last : {3.5f, kInfinity, kNan}) {
    const Tensor other = Tensor::Of<float>({4}, {1, -2, 0, last});
    EXPECT_FALSE(FiguresOf(values, other).exact()) << last;
    EXPECT_FALSE(FiguresOf(other, values).exact()) << last;
  }
  const Tensor nans = Tensor::Of<float>({2}, {kNan, kNan});
  EXPECT_FALSE(FiguresOf(nans, nans).exact());
  EXPECT_FALSE(ValueStats({.dtype = ir::DType::kF32, .shape = {2}}, false).Finish().exact())
      << "nothing was compared";
}

TEST(Metrics, AResultThatIsNotFiniteWhereTheBaselineIsLeavesFiguresUndefined) {
  const Tensor values = Tensor::Of<float>({3}, {1, 2, 3});
  const v1::ValueNumerics broken = FiguresOf(values, Tensor::Of<float>({3}, {1.5, 2, kNan}));
  EXPECT_FALSE(broken.has_sqnr_db());
  EXPECT_FALSE(broken.has_cosine());
  const v1::ValueNumerics masked =
      FiguresOf(Tensor::Of<float>({3}, {1, 2, -kInfinity}), Tensor::Of<float>({3}, {1.5, 2, -9}));
  EXPECT_TRUE(masked.has_sqnr_db()) << "an integer model clamps the baseline's infinity";
}

TEST(Metrics, RowsWithNaNHaveNoTopClass) {
  const Tensor scores = Tensor::Of<float>({2, 3}, {1, 5, 2, kNan, 1, 2});
  const v1::ValueNumerics figures = FiguresOf(scores, scores);
  EXPECT_EQ(figures.top1_agreement(), 0.5);
  EXPECT_EQ(figures.classes(), 3);
}

TEST(Metrics, TheWorstChannelIsTheNoisiest) {
  Case made = MakeCase({2, 4, 5, 5}, {.dtype = ir::DType::kF32}, 1);
  for (int64_t i = 50; i < 75; ++i) made.actual.mutable_values<float>()[i] += 3;
  EXPECT_EQ(Measure(made, 1).figures.worst_channel().index(), 2);
}

TEST(Metrics, EqualForAnyNumberOfThreadsOnAnyInstructionSet) {
  const Case made = MakeCase({2, 5, 97, 101}, Quantized(ir::DType::kU8, 0.03f, 120), 1);
  const std::string alone = Measure(made, 1).figures.SerializeAsString();
  for (const auto& [isa, threads] :
       {std::pair(Isa::kPortable, 1), {Isa::kAvx2, 2}, {Isa::kAvx512, 3}, {Isa::kAvx512Vnni, 8}}) {
    const ScopedIsaLimit limit(std::min(isa, MachineIsa()));
    EXPECT_EQ(Measure(made, threads).figures.SerializeAsString(), alone);
  }
}

}  // namespace
}  // namespace octavo::report
