// SPDX-License-Identifier: Apache-2.0
// Properties that every row of the table of numerics modes must have, and differences of the modes.
#include "core/numerics/mode_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace octavo::numerics {
namespace {

// Random parameters.  A mode that requires power-of-two scales gets those.
ChannelQuant RandomQuant(const Mode& mode, std::mt19937& random) {
  const float scale = mode.defines_scale != nullptr
                          ? std::ldexp(1.0f, static_cast<int>(random() % 12) - 8)
                          : std::ldexp(1.0f + static_cast<float>(random() % 1000) / 1000,
                                       static_cast<int>(random() % 8) - 4);
  return {scale, static_cast<int32_t>(random() % 256) - 128};
}

TEST(ModeTable, NamesAreUniqueAndFindTheirRow) {
  std::set<std::string_view> names;
  for (const Mode* mode : AllModes()) {
    EXPECT_TRUE(names.insert(mode->name).second) << mode->name;
    EXPECT_EQ(FindMode(mode->name), mode);
  }
  EXPECT_EQ(AllModes()[0], &kOnnx);
  EXPECT_EQ(FindMode("exact"), nullptr);
}

TEST(ModeTable, EveryModeQuantizesZeroToTheZeroPoint) {
  for (const Mode* mode : AllModes()) {
    for (const int32_t zero : {-128, -1, 0, 3, 127}) {
      EXPECT_EQ(QuantizeOne(mode->quantize, 0, {0.25f, zero}, {-128, 127}), zero) << mode->name;
      EXPECT_EQ(QuantizeOne(mode->quantize, NAN, {0.25f, zero}, {-128, 127}), zero) << mode->name;
      EXPECT_EQ(QuantizeOne(mode->quantize, INFINITY, {0.25f, zero}, {-128, 127}), 127);
      EXPECT_EQ(QuantizeOne(mode->quantize, -INFINITY, {0.25f, zero}, {-128, 127}), -128);
    }
  }
}

// Either the kernels of `qlinear` compute a mode, or its own formulas do.
TEST(ModeTable, AModeHasFormulasUnlessItsArithmeticIsThatOfQLinearOperators) {
  for (const Mode* mode : AllModes()) {
    EXPECT_EQ(mode->products.empty(), mode->qlinear) << mode->name;
    EXPECT_EQ(mode->binary.empty(), mode->qlinear) << mode->name;
    EXPECT_EQ(mode->average_pool == nullptr, mode->qlinear) << mode->name;
  }
}

// Most proofs of rewrite rules depend on these two facts.
TEST(Rescale, IsMonotoneAndMapsZeroToZeroInEveryMode) {
  for (const Mode* mode : AllModes()) {
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
      const ChannelQuant from = RandomQuant(*mode, random), to = RandomQuant(*mode, random);
      const RescaleFormula rescale = mode->rescale(from, to);
      ASSERT_TRUE(rescale) << mode->name;
      EXPECT_EQ(rescale(from.zero_point), to.zero_point) << mode->name;
      for (int64_t value = -300; value < 300; ++value) {
        ASSERT_LE(rescale(value), rescale(value + 1))
            << mode->name << " " << from.scale << " to " << to.scale << " at " << value;
      }
    }
  }
}

TEST(Rescale, IsQuantizeOfDequantizeWhereTheRowClaimsIt) {
  constexpr ir::IntegerRange kWide = {-1 << 20, 1 << 20};
  for (const Mode* mode : AllModes()) {
    std::mt19937 random(3);
    int64_t different = 0;
    for (int i = 0; i < 200; ++i) {
      const ChannelQuant from = RandomQuant(*mode, random), to = RandomQuant(*mode, random);
      const RescaleFormula rescale = mode->rescale(from, to);
      for (int32_t value = -128; value < 128; ++value) {
        const float real = static_cast<float>(value - from.zero_point) * from.scale;
        different += rescale(value) == QuantizeOne(mode->quantize, real, to, kWide) ? 0 : 1;
      }
    }
    if (mode->rescale_is_quantize_of_dequantize) {
      EXPECT_EQ(different, 0) << mode->name;
    }
  }
}

// Compares the largest distance, in steps, of a Rescale from the real quotient with the row's
// claim.
TEST(Rescale, IsWithinHalfAStepUnlessTheRowSaysOtherwise) {
  for (const Mode* mode : AllModes()) {
    std::mt19937 random(11);
    double most = 0;
    for (int i = 0; i < 300; ++i) {
      const ChannelQuant from = RandomQuant(*mode, random), to = RandomQuant(*mode, random);
      const RescaleFormula rescale = mode->rescale(from, to);
      for (int64_t value = -128; value < 128; ++value) {
        const double exact =
            static_cast<double>(value - from.zero_point) * double{from.scale} / double{to.scale};
        most =
            std::max(most, std::abs(static_cast<double>(rescale(value) - to.zero_point) - exact));
      }
    }
    EXPECT_EQ(most > 0.51, mode->rounds_beyond_half) << mode->name << " " << most;
  }
}

TEST(Rescale, TiesGoAsTheModeSays) {
  // 3, 5 and -3 half steps.
  const auto value = [](const Mode& mode, int64_t from, int32_t zero_point) {
    return mode.rescale({0.5f, 0}, {1, zero_point})(from) - zero_point;
  };
  for (const Mode* mode : {&kOnnx, &kGlowInterpreter}) {
    EXPECT_EQ(value(*mode, 3, 0), 2);
    EXPECT_EQ(value(*mode, 5, 0), 2);
    EXPECT_EQ(value(*mode, -3, 0), -2);
  }
  // Glow adds an odd zero point before it rounds.
  EXPECT_EQ(value(kOnnx, 5, 1), 2);
  EXPECT_EQ(value(kGlowInterpreter, 5, 1), 3);
  for (const Mode* mode : {&kTfliteSingle, &kGlowCpu, &kPow2}) {
    EXPECT_EQ(value(*mode, 5, 0), 3) << mode->name;
    EXPECT_EQ(value(*mode, -3, 0), -1) << mode->name;
  }
  EXPECT_EQ(value(kTflite, 5, 0), 3);
}

TEST(Rescale, Pow2DefinesPowersOfTwoAlone) {
  EXPECT_FALSE(kPow2.rescale({0.3f, 0}, {0.5f, 0}));
  EXPECT_TRUE(kPow2.rescale({0.25f, 0}, {0.5f, 0}));
}

}  // namespace
}  // namespace octavo::numerics
