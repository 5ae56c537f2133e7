// SPDX-License-Identifier: Apache-2.0
// The verifier's roundings and those of core/numerics were written apart and must agree.
#include "core/verify/arithmetic.h"

#include <gtest/gtest.h>

#include "core/numerics/fixed_point.h"
#include "core/numerics/mode_table.h"
#include "tests/core/properties/dice.h"

namespace octavo::verify {
namespace {

ir::Type DrawType(test::Dice& dice, bool powers) {
  static const std::vector<ir::DType> kTypes = {ir::DType::kU8, ir::DType::kI8, ir::DType::kI16};
  const ir::DType dtype = dice.Pick(kTypes);
  const ir::IntegerRange range = ir::IntegerRangeOf(dtype);
  const auto zero = static_cast<int32_t>(dice.Chance(30) ? 0 : dice.Between(range.min, range.max));
  const auto scale = powers ? std::ldexp(1.0f, static_cast<int>(dice.Between(-8, 0)))
                            : static_cast<float>(dice.Real(0.001, 0.2));
  return {dtype, {1}, ir::Quant::PerTensor(scale, std::max<int32_t>(zero, range.min)), {}};
}

class EveryMode : public testing::TestWithParam<const numerics::Mode*> {};

TEST_P(EveryMode, RoundsAsItsDefinitionSays) {
  const numerics::Mode& row = *GetParam();
  const std::optional<Mode> mode = ParseMode(row.name);
  ASSERT_TRUE(mode);
  test::Dice dice(7);
  int64_t compared = 0;
  for (int pair = 0; pair < 400; ++pair) {
    const ir::Type from_type = DrawType(dice, *mode == Mode::kPow2);
    const ir::Type to_type = DrawType(dice, *mode == Mode::kPow2);
    const Grid from = Grid::Of(from_type), to = Grid::Of(to_type);
    const ir::IntegerRange range = ir::IntegerRangeOf(to_type.dtype);
    const auto rescale =
        row.rescale(numerics::ChannelQuant::Of(from_type), numerics::ChannelQuant::Of(to_type));
    const int64_t step = from.most > 255 ? 37 : 1;
    for (int64_t stored = from.least; stored <= from.most; stored += step) {
      const float real = RealOf(stored, from);
      EXPECT_EQ(
          QuantizeReal(*mode, real, to),
          numerics::QuantizeOne(row.quantize, real, numerics::ChannelQuant::Of(to_type), range))
          << row.name << ' ' << ToString(to_type) << ' ' << real;
      const auto mine = RescaleStored(*mode, stored, from, to);
      if (!mine || !rescale) continue;
      ++compared;
      ASSERT_EQ(*mine, numerics::Clamp(rescale(stored), range))
          << row.name << ' ' << ToString(from_type) << ' ' << ToString(to_type) << ' ' << stored;
    }
  }
  EXPECT_GT(compared, 10000);
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode,
                         testing::ValuesIn(numerics::AllModes().begin(),
                                           numerics::AllModes().end()));

}  // namespace
}  // namespace octavo::verify
