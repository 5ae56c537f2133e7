// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/requantize.h"

#include <algorithm>

#include "core/ir/output_channels.h"

namespace octavo::runtime {

std::vector<float> Multipliers(const ir::Quant& x, const ir::Quant& w, const ir::Quant& y,
                               int64_t channels) {
  std::vector<float> multipliers = AccumulatorScales(x, w, channels);
  for (float& multiplier : multipliers) multiplier /= y.scale();
  return multipliers;
}

std::vector<float> AccumulatorScales(const ir::Quant& x, const ir::Quant& w, int64_t channels) {
  std::vector<float> scales(channels);
  for (int64_t c = 0; c < channels; ++c) scales[c] = ir::AccumulatorScale(x, w, c);
  return scales;
}

float MeanMultiplier(const ir::Quant& x, const ir::Quant& y, int64_t count) {
  const float divisor = y.scale() * static_cast<float>(count);
  return x.scale() / divisor;
}

int32_t Requantize(int64_t sum, float multiplier, int32_t zero_point, ir::IntegerRange range) {
  const float low = static_cast<float>(range.min - zero_point);
  const float high = static_cast<float>(range.max - zero_point);
  const float real = std::clamp(static_cast<float>(sum) * multiplier, low, high);
  // Storage wider than float's 24 bits is clamped once more, because `high` may have rounded up.
  // Adding and then subtracting kRounder rounds |x| < 2^51 to an integer, ties to even.
  constexpr double kRounder = 0x1.8p52;
  const int64_t q = static_cast<int64_t>((double{real} + kRounder) - kRounder) + zero_point;
  return static_cast<int32_t>(std::clamp(q, range.min, range.max));
}

}  // namespace octavo::runtime
