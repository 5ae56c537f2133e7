// Every mode's requantization against vectors computed apart from this code (mode_vectors.py):
// ties, extremes, multipliers of 2^30 and 2^31 - 1, and shifts of 0, 1, 30, 31, 32 and 62.
#include <gtest/gtest.h>

#include <cmath>

#include "core/ops/fixed_point.h"
#include "core/runtime/mode_requantize.h"
#include "core/runtime/requantize.h"
#include "tests/core/runtime/mode_vectors.h"

namespace octavo::runtime {
namespace {

TEST(ModeVectors, TfliteRoundsTwiceOrOnce) {
  for (const mode_vectors::Fixed& fixed : mode_vectors::kFixed) {
    const ops::FixedPoint m{fixed.multiplier, 31 - fixed.n};
    EXPECT_EQ(ops::MultiplyDoubleRounding(fixed.x, m), fixed.twice)
        << fixed.x << " " << fixed.multiplier << " " << fixed.n;
    EXPECT_EQ(ops::MultiplySingleRounding(fixed.x, m), fixed.once)
        << fixed.x << " " << fixed.multiplier << " " << fixed.n;
  }
}

TEST(ModeVectors, GlowCpuShiftsBeforeAndAfter) {
  for (const mode_vectors::Transform& row : mode_vectors::kTransform) {
    EXPECT_EQ(ops::Transform(row.x, {row.before, row.after, row.scale}), row.y)
        << row.x << " " << row.before << " " << row.scale << " " << row.after;
  }
}

TEST(ModeVectors, Pow2Shifts) {
  for (const mode_vectors::Shift& shift : mode_vectors::kShift) {
    EXPECT_EQ(ops::ShiftRounding(shift.x, shift.exponent), shift.y)
        << shift.x << " " << shift.exponent;
  }
}

TEST(ModeVectors, OnnxAndGlowsInterpreterRoundFloats) {
  for (const mode_vectors::Real& real : mode_vectors::kReal) {
    const float m = std::ldexp(static_cast<float>(real.odd), -real.k);
    EXPECT_EQ(Requantize(real.x, m, real.zero, {-128, 127}), real.onnx)
        << real.x << " " << m << " " << real.zero;
    const ir::Type y{ir::DType::kI8, {1}, ir::Quant::PerTensor(1, real.zero), {}};
    const auto code = [&](std::string_view op) {
      return ModeRequantizer(ir::Numerics::kGlowInterpreter, op, ir::Quant::PerTensor(m, 0),
                             ir::Quant::PerTensor(1, 0), y, 1)
          .Code(real.x, 0);
    };
    EXPECT_EQ(code("Conv"), real.glow_inside) << real.x << " " << m << " " << real.zero;
    EXPECT_EQ(code("Gemm"), real.glow_after) << real.x << " " << m << " " << real.zero;
  }
}

}  // namespace
}  // namespace octavo::runtime
