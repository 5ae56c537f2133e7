// SPDX-License-Identifier: Apache-2.0
// Functions of one operand and means in the numerics modes except `onnx`, over all 8-bit values.
#include <gemmlowp/fixedpoint/fixedpoint.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Tensor;
using Ints = std::vector<int64_t>;

constexpr std::string_view kModes[] = {"tflite", "tflite-single", "glow-interpreter", "glow-cpu",
                                       "pow2"};

Result<Tensor> RunIn(const KernelCase& test, std::string_view mode, const Tensor& x,
                     int threads = 1) {
  ThreadPool pool(threads);
  OCTAVO_TRY(const Plan plan,
             Plan::Create(test.graph, {.numerics = numerics::FindMode(mode)}, pool));
  OCTAVO_TRY(const std::vector<Tensor> outputs, plan.Run({x}, pool));
  return outputs[0];
}

Tensor AllInt8(ir::Shape shape = {256}) {
  Tensor values(DType::kI8, std::move(shape));
  for (int i = 0; i < 256; ++i) values.mutable_values<int8_t>()[i] = static_cast<int8_t>(i - 128);
  return values;
}

// The results for all 8-bit values, from -128 up; empty if the mode does not define them.
Ints Results(std::string_view op, std::string_view mode, const ir::Type& x, const ir::Type& y) {
  const KernelCase test(*ops::FindOp(op), {{x}}, {}, {y});
  const auto got = RunIn(test, mode, AllInt8(x.shape));
  if (!got) {
    EXPECT_EQ(got.error().code, Code::kUnimplemented);
    return {};
  }
  EXPECT_EQ(*RunIn(test, mode, AllInt8(x.shape), 2), *got);
  return got->ToInts();
}

const ir::Type kHalf = QuantType(DType::kI8, {256}, 0.5f, 1);
const ir::Type kWhole = QuantType(DType::kI8, {256}, 1.0f, -3);

TEST(ModeFunctions, AClampWithinOneTypeComparesStoredIntegers) {
  for (const std::string_view mode : kModes) {
    const Ints got = Results("Relu", mode, kHalf, kHalf);
    ASSERT_EQ(got.size(), 256u) << mode;
    for (int q = -128; q < 128; ++q) EXPECT_EQ(got[q + 128], std::max(q, 1)) << mode;
  }
}

TEST(ModeFunctions, AClampOfAnotherTypeRescalesAsTheModeDoes) {
  for (const std::string_view mode : kModes) {
    const KernelCase rescale(*ops::FindOp("Rescale", "octavo"), {{kHalf}}, {}, {kWhole});
    const auto rescaled = RunIn(rescale, mode, AllInt8());
    ASSERT_TRUE(rescaled) << mode;
    const Ints got = Results("Relu", mode, kHalf, kWhole);
    ASSERT_EQ(got.size(), 256u) << mode;
    for (int i = 0; i < 256; ++i) EXPECT_EQ(got[i], std::max<int64_t>(rescaled->IntAt(i), -3));
  }
}

TEST(ModeFunctions, GlowTabulatesByAddingTheStep) {
  const ir::Type x = QuantType(DType::kI8, {256}, 0.1f, 7);
  const ir::Type y = QuantType(DType::kI8, {256}, 1.0f / 64, -3);
  for (const std::string_view mode : {"glow-interpreter", "glow-cpu"}) {
    const Ints got = Results("HardSigmoid", mode, x, y);
    ASSERT_EQ(got.size(), 256u);
    float real = -135 * 0.1f;
    for (int i = 0; i < 256; ++i, real += 0.1f) {
      const float value = std::clamp(0.2f * real + 0.5f, 0.0f, 1.0f);
      EXPECT_NEAR(static_cast<double>(got[i]), double{value} * 64 - 3, 0.501) << i;
    }
  }
  // Abs exposes the accumulated steps themselves.  At scale 0.1 they differ from the multiples by
  // less than a quantization step, and at twice the scale the sum in float32 decides ties.
  const ir::Type twice = QuantType(DType::kI8, {256}, 0.2f, 0);
  const Ints got = Results("Abs", "glow-interpreter", x, twice);
  ASSERT_EQ(got.size(), 256u);
  float real = -135 * 0.1f;
  for (int i = 0; i < 256; ++i, real += 0.1f) {
    EXPECT_EQ(got[i], static_cast<int64_t>(std::nearbyint(std::fabs(real) / 0.2f))) << i;
  }
}

TEST(ModeFunctions, Pow2TabulatesAsOnnxDoes) {
  const ir::Type x = QuantType(DType::kI8, {256}, 0.0625f, 0);
  const ir::Type y = QuantType(DType::kI8, {256}, 0.0078125f, 0);
  for (const std::string_view op : {"Sigmoid", "Tanh", "Exp", "HardSwish", "Swish", "LeakyRelu"}) {
    EXPECT_EQ(Results(op, "pow2", x, y), Results(op, "onnx", x, y)) << op;
  }
  EXPECT_TRUE(Results("Tanh", "pow2", QuantType(DType::kI8, {256}, 0.06f, 0), y).empty());
}

// TFLite's reference kernels of Logistic and Tanh, with gemmlowp's functions.
template <class F>
Ints TfliteCurve(float scale, int32_t zero, int fraction_bits, int32_t result_zero, F&& curve) {
  int shift = 0;
  const double fraction = std::frexp(double{scale} * (1 << 27), &shift);
  const auto multiplier = static_cast<int32_t>(std::round(fraction * 2147483648.0));
  const double radius = std::floor(15.0 * (1 << 27) / std::ldexp(1.0, shift));
  Ints expected;
  for (int q = -128; q < 128; ++q) {
    const int32_t x = q - zero;
    if (x <= -radius || x >= radius) {
      expected.push_back(x < 0 ? -128 : 127);
      continue;
    }
    const int32_t in = gemmlowp::SaturatingRoundingDoublingHighMul(x * (1 << shift), multiplier);
    const int32_t out = curve(gemmlowp::FixedPoint<int32_t, 4>::FromRaw(in)).raw();
    const int32_t y = gemmlowp::RoundingDivideByPOT(out, 31 - fraction_bits) + result_zero;
    expected.push_back(std::clamp(y, -128, 127));
  }
  return expected;
}

TEST(ModeFunctions, TflitesCurvesAreItsIntegerReferenceOperators) {
  const ir::Type sigmoid = QuantType(DType::kI8, {256}, 1.0f / 256, -128);
  const ir::Type tanh = QuantType(DType::kI8, {256}, 1.0f / 128, 0);
  for (const float scale : {0.01f, 0.05f, 0.125f, 0.3f}) {
    for (const int32_t zero : {0, -128, 17}) {
      const ir::Type x = QuantType(DType::kI8, {256}, scale, zero);
      EXPECT_EQ(Results("Sigmoid", "tflite", x, sigmoid),
                TfliteCurve(scale, zero, 8, -128, [](auto v) { return gemmlowp::logistic(v); }));
      EXPECT_EQ(Results("Tanh", "tflite", x, tanh),
                TfliteCurve(scale, zero, 7, 0, [](auto v) { return gemmlowp::tanh(v); }));
    }
  }
  EXPECT_TRUE(Results("Sigmoid", "tflite", kHalf, tanh).empty());
  EXPECT_TRUE(Results("Exp", "tflite", kHalf, kWhole).empty());
}

TEST(ModeFunctions, TflitesSoftmaxSumsNearlyToOne) {
  const ir::Type x = QuantType(DType::kI8, {4, 64}, 0.1f, 5);
  const ir::Type y = QuantType(DType::kI8, {4, 64}, 1.0f / 256, -128);
  const Ints got = Results("Softmax", "tflite", x, y);
  ASSERT_EQ(got.size(), 256u);
  for (int row = 0; row < 4; ++row) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) sum += std::exp((i - 63) * double{0.1f});
    for (int i = 0; i < 64; ++i) {
      const double real = std::exp((i - 63) * double{0.1f}) / sum * 256 - 128;
      EXPECT_NEAR(static_cast<double>(got[row * 64 + i]), real, 0.51) << row << " " << i;
    }
  }
  EXPECT_TRUE(Results("Softmax", "glow-cpu", x, y).empty());
}

// ------------------------------------------------------------ means

std::optional<Ints> Means(std::string_view mode, const Tensor& x, const ir::Type& y_type,
                          ir::AttrMap how, float scale = 0.5f, int32_t zero = 1) {
  const KernelCase test(*ops::FindOp("AveragePool"),
                        {{QuantType(DType::kI8, x.shape(), scale, zero)}}, std::move(how),
                        {y_type});
  const auto got = RunIn(test, mode, x);
  if (!got) return std::nullopt;
  EXPECT_EQ(*RunIn(test, mode, x, 2), *got);
  return got->ToInts();
}

ir::AttrMap Window(std::vector<int64_t> pads, bool padding_counts) {
  ir::AttrMap how;
  how.Set("kernel_shape", std::vector<int64_t>{1, 2});
  how.Set("strides", std::vector<int64_t>{1, 2});
  how.Set("pads", std::move(pads));
  how.Set("count_include_pad", int64_t{padding_counts ? 1 : 0});
  return how;
}

TEST(ModeFunctions, AMeanTiesAsTheModeSays) {
  const Tensor x = Tensor::Of<int8_t>({1, 1, 1, 8}, {3, 4, -3, -4, 1, 2, -2, -1});
  const ir::Type same = QuantType(DType::kI8, {1, 1, 1, 4}, 0.5f, 1);
  // Sums of stored integers: 7, -7, 3, -3; minus the zero point: 5, -9, 1, -5.
  const ir::AttrMap plain = Window({0, 0, 0, 0}, false);
  EXPECT_EQ(Means("tflite", x, same, plain), (Ints{4, -4, 2, -2}));
  EXPECT_EQ(Means("tflite-single", x, same, plain), (Ints{4, -4, 2, -2}));
  EXPECT_EQ(Means("glow-interpreter", x, same, plain), (Ints{4, -4, 2, -2}));
  EXPECT_EQ(Means("glow-cpu", x, same, plain), (Ints{4, -3, 2, -1}));
  EXPECT_EQ(Means("pow2", x, same, plain), (Ints{4, -3, 2, -1}));
  const ir::Type other = QuantType(DType::kI8, {1, 1, 1, 4}, 0.25f, 0);
  EXPECT_EQ(Means("tflite", x, other, plain), std::nullopt);
  EXPECT_EQ(Means("pow2", x, other, plain), (Ints{5, -9, 1, -5}));
}

TEST(ModeFunctions, AMeanWithPaddingIsDefinedWhereTheModeSaysHow) {
  const Tensor x = Tensor::Of<int8_t>({1, 1, 1, 3}, {11, 3, 5});
  const ir::Type y = QuantType(DType::kI8, {1, 1, 1, 2}, 0.5f, 1);
  const ir::AttrMap counts = Window({0, 1, 0, 0}, true), not_counted = Window({0, 1, 0, 0}, false);
  EXPECT_EQ(Means("tflite", x, y, not_counted), (Ints{11, 4}));
  EXPECT_EQ(Means("tflite", x, y, counts), std::nullopt);
  EXPECT_EQ(Means("glow-interpreter", x, y, counts), (Ints{6, 4}));
  EXPECT_EQ(Means("glow-cpu", x, y, counts), (Ints{6, 4}));
  EXPECT_EQ(Means("glow-cpu", x, y, not_counted), std::nullopt);
}

TEST(ModeFunctions, Pow2MeansMultiplyByARoundedInverse) {
  // 1/3 is rounded down to 21845 / 2^16: a sum of 3 * 2^k no longer ties, and 381 gives slightly
  // less than 127.
  Tensor x = Tensor::Of<int8_t>({1, 1, 1, 3}, {127, 127, 127});
  ir::AttrMap how;
  how.Set("kernel_shape", std::vector<int64_t>{1, 3});
  const ir::Type y = QuantType(DType::kI8, {1, 1, 1, 1}, 0.5f, 0);
  const int64_t exact = (381 * 21845 + (1 << 15)) >> 16;
  EXPECT_EQ(Means("pow2", x, y, how, 0.5f, 0), (Ints{exact}));
}

}  // namespace
}  // namespace octavo::runtime
