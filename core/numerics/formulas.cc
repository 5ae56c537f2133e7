// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/formulas.h"

#include <cmath>

namespace octavo::numerics {

// The sum of an integral float and a zero point is exact in double.
double QuantizeToEven(float x, ChannelQuant to) {
  return double{std::nearbyint(x / to.scale)} + to.zero_point;
}

RescaleFormula RescaleThroughFloat(QuantizeFunction quantize, ChannelQuant from, ChannelQuant to) {
  return [quantize, from, to](int64_t value) {
    constexpr double kFar = 0x1p52;  // integral, and far beyond every stored value
    const float real = static_cast<float>(value - from.zero_point) * from.scale;
    return static_cast<int64_t>(std::clamp(quantize(real, to), -kFar, kFar));
  };
}

BinaryFormula Multiply(RequantizeFormula requantize, const ir::Type& y) {
  if (!requantize) return {};
  return [requantize = std::move(requantize), range = ir::IntegerRangeOf(y.dtype)](
             int32_t a, int32_t b) { return Clamp(requantize(int64_t{a} * b), range); };
}

}  // namespace octavo::numerics
