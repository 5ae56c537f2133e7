// SPDX-License-Identifier: Apache-2.0
// Mode `pow2`: accelerators whose scales are powers of two, so that requantization is a shift.
// Ties round to +infinity.  Other scales are undefined.
#include <algorithm>
#include <cmath>

#include "core/numerics/formulas.h"

namespace octavo::numerics {
namespace {

// floor(x / s + 1/2) + z: rounds ties as the shifts do.
double Quantize(float x, ChannelQuant to) {
  return std::floor(double{x} / double{to.scale} + 0.5) + to.zero_point;
}

RescaleFormula Rescale(ChannelQuant from, ChannelQuant to) {
  if (!IsPowerOfTwo(from.scale) || !IsPowerOfTwo(to.scale)) return {};
  return [exponent = ExponentOf(from.scale) - ExponentOf(to.scale), x_zero = from.zero_point,
          y_zero = to.zero_point](int64_t value) {
    return int64_t{ShiftRounding(value - x_zero, exponent)} + y_zero;
  };
}

RequantizeFormula Requantize(const ProductQuant& quant) {
  if (!IsPowerOfTwo(quant.x) || !IsPowerOfTwo(quant.w) || !IsPowerOfTwo(quant.y)) return {};
  return [exponent = ExponentOf(quant.x) + ExponentOf(quant.w) - ExponentOf(quant.y),
          offset = quant.zero_point](int64_t sum) {
    return int64_t{ShiftRounding(sum, exponent)} + offset;
  };
}

// Converts both operands exactly to the finer scale, adds them, and applies one rounding shift.
// Undefined if the scales differ by more bits than int32 has.
template <int kSign>
BinaryFormula AddOrSubtract(const BinaryTypes& types) {
  for (const ir::Type* type : {&types.a, &types.b, &types.y}) {
    if (!IsPowerOfTwo(type->quant->scale())) return {};
  }
  const int a_exponent = ExponentOf(types.a.quant->scale());
  const int b_exponent = ExponentOf(types.b.quant->scale());
  const int finer = std::min(a_exponent, b_exponent);
  if (std::max(a_exponent, b_exponent) - finer > 31) return {};
  return [a_more = int64_t{1} << (a_exponent - finer), b_more = int64_t{1} << (b_exponent - finer),
          shift = finer - ExponentOf(types.y.quant->scale()), to = ChannelQuant::Of(types.y),
          range = ir::IntegerRangeOf(types.y.dtype)](int32_t a, int32_t b) {
    return Stored(ShiftRounding(a * a_more + kSign * b * b_more, shift), to, range);
  };
}

BinaryFormula Multiplied(const BinaryTypes& types) {
  return Multiply(Requantize(ProductOf(types)), types.y);
}

// The sum times round(2^16 / count), then one rounding shift.
PoolFormula AveragePool(const ir::Type& x, const ir::Type& y, const PoolWindows&) {
  const float x_scale = x.quant->scale(), y_scale = y.quant->scale();
  if (!IsPowerOfTwo(x_scale) || !IsPowerOfTwo(y_scale)) return {};
  return [shift = ExponentOf(x_scale) - ExponentOf(y_scale) - 16, to = ChannelQuant::Of(y),
          range = ir::IntegerRangeOf(y.dtype)](const PoolSum& window) {
    const int64_t inverse = ((int64_t{1} << 17) / window.count + 1) / 2;
    return Stored(ShiftRounding(window.sum * inverse, shift), to, range);
  };
}

void TableInputs(ChannelQuant quant, int32_t first, std::span<float> values) {
  int64_t value = first;
  for (float& each : values) each = static_cast<float>(value++ - quant.zero_point) * quant.scale;
}

constexpr ProductRow kProducts[] = {{"Conv", &Requantize},
                                    {"ConvTranspose", &Requantize},
                                    {"Gemm", &Requantize},
                                    {"MatMul", &Requantize}};
constexpr BinaryRow kBinary[] = {{"Add", &AddOrSubtract<1>},
                                 {"Sub", &AddOrSubtract<-1>},
                                 {"Mul", &Multiplied},
                                 {"Max", &RescaleAndChoose<Greater, &Rescale>},
                                 {"Min", &RescaleAndChoose<Lesser, &Rescale>}};

}  // namespace

// The tables are those of mode `onnx`, whose Quantize rounds half to even.
extern constexpr Mode kPow2{.name = "pow2",
                            .quantize = &Quantize,
                            .rescale = &Rescale,
                            .defines_scale = &IsPowerOfTwo,
                            .products = kProducts,
                            .binary = kBinary,
                            .average_pool = &AveragePool,
                            .tables = {.inputs = &TableInputs, .quantize = &QuantizeToEven}};

}  // namespace octavo::numerics
