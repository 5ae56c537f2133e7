// SPDX-License-Identifier: Apache-2.0
// Formulas that the files of several modes share.
#pragma once

#include <algorithm>

#include "core/numerics/fixed_point.h"
#include "core/numerics/mode.h"

namespace octavo::numerics {

// The stored value of type y for `steps`: adds the zero point, then clamps.
inline int32_t Stored(int64_t steps, ChannelQuant to, ir::IntegerRange range) {
  return Clamp(steps + to.zero_point, range);
}

// rne(x / s) + z
double QuantizeToEven(float x, ChannelQuant to);

// Rescale computed as Quantize(Dequantize(value)), with the mode's Quantize function.
RescaleFormula RescaleThroughFloat(QuantizeFunction quantize, ChannelQuant from, ChannelQuant to);

// Mul as the requantized product of centered values.
BinaryFormula Multiply(RequantizeFormula requantize, const ir::Type& y);

// The scales of an elementwise product, for Multiply.
inline ProductQuant ProductOf(const BinaryTypes& types) {
  return {types.a.quant->scale(), types.b.quant->scale(), types.y.quant->scale(),
          types.y.quant->zero_point()};
}

struct Greater {
  int32_t operator()(int32_t a, int32_t b) const { return std::max(a, b); }
};
struct Lesser {
  int32_t operator()(int32_t a, int32_t b) const { return std::min(a, b); }
};

// Max or Min: rescales each operand to the result's type, then compares.
template <class Choose, RescaleFormula (*kRescale)(ChannelQuant, ChannelQuant)>
BinaryFormula RescaleAndChoose(const BinaryTypes& types) {
  const ChannelQuant a = ChannelQuant::Of(types.a), b = ChannelQuant::Of(types.b);
  const ChannelQuant y = ChannelQuant::Of(types.y);
  const RescaleFormula of_a = kRescale(a, y), of_b = kRescale(b, y);
  if (!of_a || !of_b) return {};
  return [of_a, of_b, a_zero = a.zero_point, b_zero = b.zero_point,
          range = ir::IntegerRangeOf(types.y.dtype)](int32_t left, int32_t right) {
    return Choose()(Clamp(of_a(left + a_zero), range), Clamp(of_b(right + b_zero), range));
  };
}

}  // namespace octavo::numerics
