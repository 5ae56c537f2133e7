// SPDX-License-Identifier: Apache-2.0
// Operators of two and one operand in the numerics modes except `onnx`, over all 8-bit values,
// against the formulas written out here from the published definitions.
#include <gemmlowp/fixedpoint/fixedpoint.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/numerics/fixed_point.h"
#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Tensor;

struct Params {
  float scale;
  int32_t zero;
};

Result<Tensor> RunIn(const KernelCase& test, std::string_view mode,
                     const std::vector<Tensor>& inputs, int threads = 1) {
  ThreadPool pool(threads);
  OCTAVO_TRY(const Plan plan,
             Plan::Create(test.graph, {.numerics = numerics::FindMode(mode)}, pool));
  OCTAVO_TRY(const std::vector<Tensor> outputs, plan.Run(inputs, pool));
  return outputs[0];
}

Tensor AllInt8(ir::Shape shape) {
  Tensor values(DType::kI8, std::move(shape));
  for (int i = 0; i < 256; ++i) values.mutable_values<int8_t>()[i] = static_cast<int8_t>(i - 128);
  return values;
}

int64_t Clamp(int64_t q) { return std::clamp<int64_t>(q, -128, 127); }

// Runs every pair of 8-bit values through the op and compares with the clamped result of
// `expected(a - za, b - zb)`.
template <class F>
void ComparePairs(std::string_view op, std::string_view mode, Params a, Params b, Params y,
                  F&& expected) {
  const KernelCase test(*ops::FindOp(op),
                        {{QuantType(DType::kI8, {256, 1}, a.scale, a.zero)},
                         {QuantType(DType::kI8, {1, 256}, b.scale, b.zero)}},
                        {}, {QuantType(DType::kI8, {256, 256}, y.scale, y.zero)});
  const std::vector<Tensor> inputs = {AllInt8({256, 1}), AllInt8({1, 256})};
  const auto got = RunIn(test, mode, inputs);
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(*RunIn(test, mode, inputs, 2), *got);
  for (int i = 0; i < 256 * 256; ++i) {
    const int32_t left = i / 256 - 128 - a.zero, right = i % 256 - 128 - b.zero;
    ASSERT_EQ(got->IntAt(i), Clamp(expected(left, right)))
        << op << " " << mode << " of " << left << " and " << right;
  }
}

constexpr Params kTriples[][3] = {
    {{0.1f, 3}, {0.25f, -7}, {0.3f, 5}},
    {{0.5f, 0}, {0.25f, 0}, {1.0f, 0}},
    {{0.0078125f, -128}, {0.03125f, 127}, {0.0625f, -1}},
    {{1.7f, 10}, {0.001f, 0}, {0.02f, -90}},
};

struct Pair {
  int32_t multiplier;
  int shift;
};
Pair PairOf(double m) {
  int shift = 0;
  const double fraction = std::frexp(m, &shift);
  auto multiplier = static_cast<int64_t>(std::round(fraction * 2147483648.0));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  return {static_cast<int32_t>(multiplier), shift};
}
int32_t Double(int32_t x, Pair m) {
  const int32_t up = x * (1 << std::max(m.shift, 0));
  return gemmlowp::RoundingDivideByPOT(
      gemmlowp::SaturatingRoundingDoublingHighMul(up, m.multiplier), std::max(-m.shift, 0));
}
int32_t Single(int32_t x, Pair m) {
  const double exact = static_cast<double>(int64_t{x} * m.multiplier);
  return static_cast<int32_t>(std::floor(std::ldexp(exact, m.shift - 31) + 0.5));
}

template <class Multiply>
void CompareTfliteSums(std::string_view mode, Multiply&& multiply) {
  for (const auto& [a, b, y] : kTriples) {
    const double twice = 2.0 * std::max(a.scale, b.scale);
    const Pair by_a = PairOf(a.scale / twice), by_b = PairOf(b.scale / twice);
    const Pair by_y = PairOf(twice / (1048576.0 * y.scale));
    for (const int sign : {1, -1}) {
      ComparePairs(sign > 0 ? "Add" : "Sub", mode, a, b, y,
                   [&, zero = y.zero](int32_t l, int32_t r) {
                     const int32_t sum =
                         multiply(l * (1 << 20), by_a) + sign * multiply(r * (1 << 20), by_b);
                     return int64_t{multiply(sum, by_y)} + zero;
                   });
    }
    const Pair product = PairOf(double{a.scale} * double{b.scale} / double{y.scale});
    if (product.shift > 0) continue;
    ComparePairs("Mul", mode, a, b, y, [&, zero = y.zero](int32_t l, int32_t r) {
      return int64_t{multiply(l * r, product)} + zero;
    });
  }
}

TEST(ModeOperators, TfliteSumsAndProductsAreItsReferenceOperators) {
  CompareTfliteSums("tflite", &Double);
  CompareTfliteSums("tflite-single", &Single);
}

int64_t Away(float x) { return static_cast<int64_t>(std::round(double{x})); }

TEST(ModeOperators, GlowInterpretersRoundInFloatOncePerOperandOrOnce) {
  for (const auto& [pa, pb, py] : kTriples) {
    const Params a = pa, b = pb, y = py;
    const auto zero = static_cast<float>(y.zero);
    ComparePairs("Add", "glow-interpreter", a, b, y, [&](int32_t l, int32_t r) {
      const float fine = 1.0f / 32768;
      const int64_t left = Away(static_cast<float>(l) * (a.scale / fine));
      const int64_t right = Away(static_cast<float>(r) * (b.scale / fine));
      return Away(static_cast<float>(left + right) * (fine / y.scale) + zero);
    });
    ComparePairs("Sub", "glow-interpreter", a, b, y, [&](int32_t l, int32_t r) {
      const float left = (a.scale / y.scale) * static_cast<float>(l);
      const float right = (b.scale / y.scale) * static_cast<float>(r);
      return Away(left - right + zero);
    });
    ComparePairs("Mul", "glow-interpreter", a, b, y, [&](int32_t l, int32_t r) {
      return Away(static_cast<float>(l * r) * (a.scale * b.scale / y.scale)) + y.zero;
    });
    const auto brought = [&](int32_t x, float scale) {
      return std::clamp(
          static_cast<int64_t>(std::nearbyint(static_cast<float>(x) * scale / y.scale + zero)),
          int64_t{-128}, int64_t{127});
    };
    ComparePairs("Max", "glow-interpreter", a, b, y, [&](int32_t l, int32_t r) {
      return std::max(brought(l, a.scale), brought(r, b.scale));
    });
    ComparePairs("Min", "glow-interpreter", a, b, y, [&](int32_t l, int32_t r) {
      return std::min(brought(l, a.scale), brought(r, b.scale));
    });
  }
}

TEST(ModeOperators, GlowCpuTransformsEachOperand) {
  // 1/2 and 2 are powers of two, whose transforms are shifts.
  const Params a{0.5f, 3}, b{2.0f, -1}, y{1.0f, 4};
  const auto half = [](int64_t x) { return (x + 1) >> 1; };
  ComparePairs("Add", "glow-cpu", a, b, y,
               [&](int32_t l, int32_t r) { return half(l) + 2 * r + 4; });
  ComparePairs("Sub", "glow-cpu", a, b, y,
               [&](int32_t l, int32_t r) { return half(l) - 2 * r + 4; });
  ComparePairs("Max", "glow-cpu", a, b, y,
               [&](int32_t l, int32_t r) { return std::max<int64_t>(half(l), 2 * r) + 4; });
  ComparePairs("Min", "glow-cpu", a, b, y,
               [&](int32_t l, int32_t r) { return std::min<int64_t>(half(l), 2 * r) + 4; });
  ComparePairs("Mul", "glow-cpu", a, a, y,
               [&](int32_t l, int32_t r) { return ((int64_t{l} * r + 2) >> 2) + 4; });
  // 0.3 is not a power of two: truncate, multiply, round.
  ComparePairs("Add", "glow-cpu", {0.3f, 0}, {0.3f, 0}, {1.0f, 0}, [&](int32_t l, int32_t r) {
    const numerics::GlowTransform t = numerics::ToGlowTransform(0.3f);
    const auto one = [&](int64_t x) {
      return (((x >> t.before) * t.scale) + (int64_t{1} << (t.after - 1))) >> t.after;
    };
    return one(l) + one(r);
  });
}

TEST(ModeOperators, PowersOfTwoAlignToTheFinerScaleAndShiftOnce) {
  const Params a{0.25f, 0}, b{0.5f, 2}, y{2.0f, -3};
  const auto shifted = [](int64_t x, int bits) { return (x + (int64_t{1} << (bits - 1))) >> bits; };
  ComparePairs("Add", "pow2", a, b, y,
               [&](int32_t l, int32_t r) { return shifted(l + 2 * r, 3) - 3; });
  ComparePairs("Sub", "pow2", a, b, y,
               [&](int32_t l, int32_t r) { return shifted(l - 2 * r, 3) - 3; });
  ComparePairs("Mul", "pow2", a, b, y,
               [&](int32_t l, int32_t r) { return shifted(int64_t{l} * r, 4) - 3; });
  ComparePairs("Max", "pow2", a, b, y,
               [&](int32_t l, int32_t r) { return std::max(shifted(l, 3), shifted(r, 2)) - 3; });
}

TEST(ModeOperators, WideSumsAndProductsAreTflitesWithAShiftOf15) {
  const ir::Type a = QuantType(DType::kI16, {64}, 0.001f, 0);
  const ir::Type b = QuantType(DType::kI16, {64}, 0.0003f, 0);
  const ir::Type y = QuantType(DType::kI16, {64}, 0.0011f, 0);
  const KernelCase test(*ops::FindOp("Add"), {{a}, {b}}, {}, {y});
  const auto got = RunIn(test, "tflite", test.tensors);
  ASSERT_TRUE(got) << got.error().message;
  const double twice = 2.0 * 0.001f;
  const Pair by_a = PairOf(0.001f / twice), by_b = PairOf(0.0003f / twice);
  const Pair by_y = PairOf(twice / (32768.0 * 0.0011f));
  for (int i = 0; i < 64; ++i) {
    const auto l = static_cast<int32_t>(test.tensors[0].IntAt(i));
    const auto r = static_cast<int32_t>(test.tensors[1].IntAt(i));
    const int32_t sum = Double(l * (1 << 15), by_a) + Double(r * (1 << 15), by_b);
    EXPECT_EQ(got->IntAt(i), std::clamp(Double(sum, by_y), -32768, 32767));
  }
  EXPECT_FALSE(RunIn(test, "glow-cpu", test.tensors));
}

TEST(ModeOperators, WhatTfliteHasNoFormForIsRefused) {
  const ir::Type x = QuantType(DType::kI8, {4}, 0.5f, 0), y = QuantType(DType::kI8, {4}, 0.25f, 0);
  for (const std::string_view op : {"Max", "Min"}) {
    EXPECT_FALSE(RunIn(KernelCase(*ops::FindOp(op), {{x}, {x}}, {}, {y}), "tflite", {}));
  }
  for (const std::string_view mode : {"tflite", "glow-interpreter", "glow-cpu", "pow2"}) {
    const auto refused = RunIn(KernelCase(*ops::FindOp("Div"), {{x}, {x}}, {}, {y}), mode, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kUnimplemented);
  }
}

}  // namespace
}  // namespace octavo::runtime
