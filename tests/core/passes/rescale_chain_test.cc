// SPDX-License-Identifier: Apache-2.0
// Conditions on quantized values: ranges, and proofs by enumeration.
#include "core/passes/analysis/rescale_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/numerics/mode_table.h"
#include "core/ops/quantize_math.h"
#include "core/passes/analysis/type_range.h"

namespace octavo::passes {
namespace {

using ir::DType;
using ir::Quant;
using ir::Type;
using numerics::Mode;

Type PerTensor(DType dtype, float scale, int32_t zero_point) {
  return {dtype, {4}, Quant::PerTensor(scale, zero_point), {}};
}

TEST(RescaleChain, ValuesReturnFromAFinerTypeAndNotFromACoarser) {
  const Type a = PerTensor(DType::kU8, 0.5f, 128);
  const Type finer = PerTensor(DType::kI16, 0.013f, 5), coarser = PerTensor(DType::kU8, 0.6f, 128);
  EXPECT_TRUE(SameResults({&a, &finer, &a}, {&a}, numerics::kOnnx));
  EXPECT_FALSE(SameResults({&a, &coarser, &a}, {&a}, numerics::kOnnx));
}

// No value saturates and the middle type is not coarser: all modes except glow-cpu then return the
// original values.
TEST(RescaleChain, FinerTypesReturnInEveryModeThatKeepsItsBits) {
  std::mt19937 random(5);
  const Type a = PerTensor(DType::kI8, 0.5f, 0);
  for (const Mode* mode : {&numerics::kOnnx, &numerics::kTflite, &numerics::kTfliteSingle,
                           &numerics::kGlowInterpreter}) {
    for (int i = 0; i < 200; ++i) {
      const float scale = 0.5f * static_cast<float>(random() % 900 + 100) / 1000;
      const Type b = PerTensor(DType::kI16, scale, 0);
      EXPECT_TRUE(SameResults({&a, &b, &a}, {&a}, *mode)) << mode->name << " " << scale;
    }
  }
  int lost = 0;
  for (int i = 0; i < 200; ++i) {
    const Type b = PerTensor(DType::kI16, 0.4f + static_cast<float>(i) * 0.0005f, 0);
    lost += SameResults({&a, &b, &a}, {&a}, numerics::kGlowCpu) ? 0 : 1;
  }
  EXPECT_GT(lost, 0);
}

TEST(RescaleChain, OnlyPossibleValuesAreEnumerated) {
  Type a = PerTensor(DType::kU8, 0.5f, 0);
  const Type narrow = PerTensor(DType::kI8, 0.25f, -100);
  EXPECT_FALSE(SameResults({&a, &narrow, &a}, {&a}, numerics::kOnnx));
  a.range = ir::Range{0, 20};
  EXPECT_TRUE(SameResults({&a, &narrow, &a}, {&a}, numerics::kOnnx));
  EXPECT_TRUE(IsInjective(a, narrow, numerics::kOnnx));
}

TEST(RescaleChain, ARescaleToAFinerTypeIsInjectiveUnlessItClips) {
  const Type a = PerTensor(DType::kU8, 0.5f, 0);
  EXPECT_TRUE(IsInjective(a, PerTensor(DType::kI16, 0.1f, 0), numerics::kOnnx));
  EXPECT_TRUE(IsInjective(a, PerTensor(DType::kI8, 0.5f, -128), numerics::kOnnx));
  EXPECT_FALSE(IsInjective(a, PerTensor(DType::kI8, 0.5f, -127), numerics::kOnnx));
  EXPECT_FALSE(IsInjective(a, PerTensor(DType::kI16, 0.6f, 0), numerics::kOnnx));
}

TEST(RescaleChain, ThirtyTwoBitsAreNotEnumerated) {
  const Type a = PerTensor(DType::kI32, 0.5f, 0);
  EXPECT_FALSE(SameResults({&a, &a}, {&a}, numerics::kOnnx));
}

// Tests range(a) inside range(b) by brute force: b clamps no quantized value of a.
TEST(TypeRange, InsideMeansThatNoCodeIsClamped) {
  std::mt19937 random(11);
  int inside = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto any = [&] {
      // The scales differ by ulps, so that range ends meet within half a step.
      const float scale = std::nextafter(static_cast<float>(random() % 4 + 1) * 0.1f,
                                         random() % 2 != 0 ? 1.0f : 0.0f);
      return PerTensor(random() % 2 != 0 ? DType::kU8 : DType::kI8, scale,
                       static_cast<int32_t>(random() % 3) + 60);
    };
    const Type a = any(), b = any();
    const ir::IntegerRange range = ir::IntegerRangeOf(a.dtype);
    bool clamped = false;
    for (int64_t code = range.min; code <= range.max; ++code) {
      const float real =
          ops::DequantizeOne(static_cast<int32_t>(code), a.quant->scale(), a.quant->zero_point());
      const ir::IntegerRange wide = {-100000, 100000};
      const float scale = b.quant->scale();
      const int32_t zero = b.quant->zero_point();
      clamped |= ops::QuantizeOne(real, scale, zero, wide) !=
                 ops::QuantizeOne(real, scale, zero, ir::IntegerRangeOf(b.dtype));
    }
    EXPECT_EQ(RangeInside(a, b), !clamped) << ir::ToString(a) << " in " << ir::ToString(b);
    inside += clamped ? 0 : 1;
  }
  EXPECT_GT(inside, 0);
}

}  // namespace
}  // namespace octavo::passes
