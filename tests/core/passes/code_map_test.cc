// Conditions that are asked of codes: ranges, and proofs by enumeration.
#include "core/passes/code_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/ops/quantize_math.h"
#include "core/passes/type_range.h"

namespace octavo::passes {
namespace {

using ir::DType;
using ir::Numerics;
using ir::Quant;
using ir::Type;

Type PerTensor(DType dtype, float scale, int32_t zero_point) {
  return {dtype, {4}, Quant::PerTensor(scale, zero_point), {}};
}

TEST(CodeMap, CodesReturnFromFinerCodesAndNotFromCoarser) {
  const Type a = PerTensor(DType::kU8, 0.5f, 128);
  const Type finer = PerTensor(DType::kI16, 0.013f, 5), coarser = PerTensor(DType::kU8, 0.6f, 128);
  EXPECT_TRUE(SameCodesBy({&a, &finer, &a}, {&a}, Numerics::kOnnx));
  EXPECT_FALSE(SameCodesBy({&a, &coarser, &a}, {&a}, Numerics::kOnnx));
}

// Nothing saturates and the middle step is no coarser: then all modes but glow-cpu return.
TEST(CodeMap, FinerCodesReturnInEveryModeThatKeepsItsBits) {
  std::mt19937 random(5);
  const Type a = PerTensor(DType::kI8, 0.5f, 0);
  for (const Numerics mode :
       {Numerics::kOnnx, Numerics::kTflite, Numerics::kTfliteSingle, Numerics::kGlowInterpreter}) {
    for (int i = 0; i < 200; ++i) {
      const float scale = 0.5f * static_cast<float>(random() % 900 + 100) / 1000;
      const Type b = PerTensor(DType::kI16, scale, 0);
      EXPECT_TRUE(SameCodesBy({&a, &b, &a}, {&a}, mode)) << Name(mode) << " " << scale;
    }
  }
  int lost = 0;
  for (int i = 0; i < 200; ++i) {
    const Type b = PerTensor(DType::kI16, 0.4f + static_cast<float>(i) * 0.0005f, 0);
    lost += SameCodesBy({&a, &b, &a}, {&a}, Numerics::kGlowCpu) ? 0 : 1;
  }
  EXPECT_GT(lost, 0);
}

TEST(CodeMap, OnlyCodesThatOccurAreLookedAt) {
  Type a = PerTensor(DType::kU8, 0.5f, 0);
  const Type narrow = PerTensor(DType::kI8, 0.25f, -100);
  EXPECT_FALSE(SameCodesBy({&a, &narrow, &a}, {&a}, Numerics::kOnnx));
  a.range = ir::Range{0, 20};
  EXPECT_TRUE(SameCodesBy({&a, &narrow, &a}, {&a}, Numerics::kOnnx));
  EXPECT_TRUE(IsInjective(a, narrow, Numerics::kOnnx));
}

TEST(CodeMap, ARescaleToFinerCodesIsInjectiveUnlessItClips) {
  const Type a = PerTensor(DType::kU8, 0.5f, 0);
  EXPECT_TRUE(IsInjective(a, PerTensor(DType::kI16, 0.1f, 0), Numerics::kOnnx));
  EXPECT_TRUE(IsInjective(a, PerTensor(DType::kI8, 0.5f, -128), Numerics::kOnnx));
  EXPECT_FALSE(IsInjective(a, PerTensor(DType::kI8, 0.5f, -127), Numerics::kOnnx));
  EXPECT_FALSE(IsInjective(a, PerTensor(DType::kI16, 0.6f, 0), Numerics::kOnnx));
}

TEST(CodeMap, ThirtyTwoBitsAreNotEnumerated) {
  const Type a = PerTensor(DType::kI32, 0.5f, 0);
  EXPECT_FALSE(SameCodesBy({&a, &a}, {&a}, Numerics::kOnnx));
}

// range(a) inside range(b), said by brute force: no code of a is clamped in b.
TEST(TypeRange, InsideMeansThatNoCodeIsClamped) {
  std::mt19937 random(11);
  int inside = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto any = [&] {
      // Scales that differ by ulps, so that ends meet within half a step.
      const float scale = std::nextafter(static_cast<float>(random() % 4 + 1) * 0.1f,
                                         random() % 2 != 0 ? 1.0f : 0.0f);
      return PerTensor(random() % 2 != 0 ? DType::kU8 : DType::kI8, scale,
                       static_cast<int32_t>(random() % 3) + 60);
    };
    const Type a = any(), b = any();
    const ir::CodeRange codes = ir::CodesOf(a.dtype);
    bool clamped = false;
    for (int64_t code = codes.min; code <= codes.max; ++code) {
      const float real =
          ops::DequantizeOne(static_cast<int32_t>(code), a.quant->scale(), a.quant->zero_point());
      const ir::CodeRange wide = {-100000, 100000};
      const float scale = b.quant->scale();
      const int32_t zero = b.quant->zero_point();
      clamped |= ops::QuantizeOne(real, scale, zero, wide) !=
                 ops::QuantizeOne(real, scale, zero, ir::CodesOf(b.dtype));
    }
    EXPECT_EQ(RangeInside(a, b), !clamped) << ir::ToString(a) << " in " << ir::ToString(b);
    inside += clamped ? 0 : 1;
  }
  EXPECT_GT(inside, 0);
}

}  // namespace
}  // namespace octavo::passes
