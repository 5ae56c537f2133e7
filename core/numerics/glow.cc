// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/glow.h"

#include <cmath>

namespace octavo::numerics {

double GlowQuantize(float x, ChannelQuant to) {
  return std::nearbyint(x / to.scale + static_cast<float>(to.zero_point));
}

void GlowTableInputs(ChannelQuant quant, int32_t first, std::span<float> values) {
  float real = static_cast<float>(int64_t{first} - quant.zero_point) * quant.scale;
  for (float& each : values) {
    each = real;
    real += quant.scale;
  }
}

}  // namespace octavo::numerics
