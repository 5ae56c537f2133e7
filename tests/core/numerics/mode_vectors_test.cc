// SPDX-License-Identifier: Apache-2.0
// Compares every mode's requantization with independently computed vectors (mode_vectors.py): ties,
// extremes, multipliers of 2^30 and 2^31 - 1, and shifts of 0, 1, 30, 31, 32 and 62.
#include <gtest/gtest.h>

#include <cmath>

#include "core/numerics/fixed_point.h"
#include "core/numerics/mode_table.h"
#include "tests/core/numerics/mode_vectors.h"

namespace octavo::numerics {
namespace {

TEST(ModeVectors, TfliteRoundsTwiceOrOnce) {
  for (const mode_vectors::Fixed& fixed : mode_vectors::kFixed) {
    const FixedPoint m{fixed.multiplier, 31 - fixed.n};
    EXPECT_EQ(MultiplyDoubleRounding(fixed.x, m), fixed.twice)
        << fixed.x << " " << fixed.multiplier << " " << fixed.n;
    EXPECT_EQ(MultiplySingleRounding(fixed.x, m), fixed.once)
        << fixed.x << " " << fixed.multiplier << " " << fixed.n;
  }
}

TEST(ModeVectors, GlowCpuShiftsBeforeAndAfter) {
  for (const mode_vectors::Transform& row : mode_vectors::kTransform) {
    EXPECT_EQ(Transform(row.x, {row.before, row.after, row.scale}), row.y)
        << row.x << " " << row.before << " " << row.scale << " " << row.after;
  }
}

TEST(ModeVectors, Pow2Shifts) {
  for (const mode_vectors::Shift& shift : mode_vectors::kShift) {
    EXPECT_EQ(ShiftRounding(shift.x, shift.exponent), shift.y) << shift.x << " " << shift.exponent;
  }
}

TEST(ModeVectors, GlowsInterpreterRoundsFloatsWithTheOffsetOrBeforeIt) {
  for (const mode_vectors::Real& real : mode_vectors::kReal) {
    const float m = std::ldexp(static_cast<float>(real.odd), -real.k);
    const auto value = [&](std::string_view op) {
      return Clamp(MakeProduct(kGlowInterpreter, op, {m, 1, 1, real.zero})(real.x), {-128, 127});
    };
    EXPECT_EQ(value("Conv"), real.glow_inside) << real.x << " " << m << " " << real.zero;
    EXPECT_EQ(value("Gemm"), real.glow_after) << real.x << " " << m << " " << real.zero;
  }
}

}  // namespace
}  // namespace octavo::numerics
