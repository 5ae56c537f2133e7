#include "core/ops/code_rescale.h"

#include <gtest/gtest.h>

#include <random>

#include "core/ops/quantize_math.h"

namespace octavo::ops {
namespace {

using ir::Numerics;

constexpr Numerics kModes[] = {Numerics::kOnnx,         Numerics::kTflite,
                               Numerics::kTfliteSingle, Numerics::kGlowInterpreter,
                               Numerics::kGlowCpu,      Numerics::kPow2};

// Random pairs; scales of powers of two for the mode that knows no others.
CodePair RandomPair(Numerics mode, std::mt19937& random) {
  const float scale = mode == Numerics::kPow2
                          ? std::ldexp(1.0f, static_cast<int>(random() % 12) - 8)
                          : std::ldexp(1.0f + static_cast<float>(random() % 1000) / 1000,
                                       static_cast<int>(random() % 8) - 4);
  return {scale, static_cast<int32_t>(random() % 256) - 128};
}

// Most proofs of rewrites rest on these two facts.
TEST(CodeRescale, IsMonotoneAndMapsZeroToZeroInEveryMode) {
  for (const Numerics mode : kModes) {
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
      const CodePair from = RandomPair(mode, random), to = RandomPair(mode, random);
      const auto rescale = CodeRescale::Of(mode, from, to);
      ASSERT_TRUE(rescale) << Name(mode);
      EXPECT_EQ(rescale->BeforeClamp(from.zero_point), to.zero_point) << Name(mode);
      for (int64_t code = -300; code < 300; ++code) {
        ASSERT_LE(rescale->BeforeClamp(code), rescale->BeforeClamp(code + 1))
            << Name(mode) << " " << from.scale << " to " << to.scale << " at " << code;
      }
    }
  }
}

TEST(CodeRescale, IsQuantizeOfDequantizeInOnnx) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const CodePair from = RandomPair(Numerics::kOnnx, random);
    const CodePair to = RandomPair(Numerics::kOnnx, random);
    const auto rescale = CodeRescale::Of(Numerics::kOnnx, from, to);
    for (int32_t code = -128; code < 128; ++code) {
      EXPECT_EQ(rescale->BeforeClamp(code),
                QuantizeOne(DequantizeOne(code, from.scale, from.zero_point), to.scale,
                            to.zero_point, {-1 << 20, 1 << 20}));
    }
  }
}

TEST(CodeRescale, TiesGoAsTheModeSays) {
  // 3, 5 and -3 half steps.
  const auto code = [](Numerics mode, int64_t from, int32_t zero_point) {
    return CodeRescale::Of(mode, {0.5f, 0}, {1, zero_point})->BeforeClamp(from) - zero_point;
  };
  for (const Numerics mode : {Numerics::kOnnx, Numerics::kGlowInterpreter}) {
    EXPECT_EQ(code(mode, 3, 0), 2);
    EXPECT_EQ(code(mode, 5, 0), 2);
    EXPECT_EQ(code(mode, -3, 0), -2);
  }
  // An odd zero point is added before Glow rounds.
  EXPECT_EQ(code(Numerics::kOnnx, 5, 1), 2);
  EXPECT_EQ(code(Numerics::kGlowInterpreter, 5, 1), 3);
  for (const Numerics mode : {Numerics::kTfliteSingle, Numerics::kGlowCpu, Numerics::kPow2}) {
    EXPECT_EQ(code(mode, 5, 0), 3) << Name(mode);
    EXPECT_EQ(code(mode, -3, 0), -1) << Name(mode);
  }
  EXPECT_EQ(code(Numerics::kTflite, 5, 0), 3);
}

TEST(CodeRescale, Pow2DefinesPowersOfTwoAlone) {
  EXPECT_FALSE(CodeRescale::Of(Numerics::kPow2, {0.3f, 0}, {0.5f, 0}));
  EXPECT_TRUE(CodeRescale::Of(Numerics::kPow2, {0.25f, 0}, {0.5f, 0}));
}

}  // namespace
}  // namespace octavo::ops
