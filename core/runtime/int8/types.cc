// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/int8/types.h"

#include <algorithm>
#include <cstdlib>

#include "core/runtime/int8/dense.h"

namespace octavo::runtime::int8 {

bool FitsInt32(const Weights& weights, int64_t channels, int64_t taps, const Activation& input,
               std::span<const int32_t> bias) {
  const bool is_signed = weights.storage == Storage::kS8;
  const int64_t zero = internal::ZeroAsU8(input);
  const int64_t max_magnitude = std::max<int64_t>(zero, 255 - zero);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t weight_zero = internal::ChannelValue(weights.zero_points, c, 0);
    const auto* row = static_cast<const uint8_t*>(weights.data) + c * taps;
    int64_t sum = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t weight = is_signed ? static_cast<int8_t>(row[t]) : row[t];
      sum += std::abs(weight - weight_zero);
    }
    const int64_t offset = internal::ChannelValue(bias, c, 0);
    if (sum * max_magnitude + std::abs(offset) >= int64_t{1} << 31) return false;
  }
  return true;
}

}  // namespace octavo::runtime::int8
