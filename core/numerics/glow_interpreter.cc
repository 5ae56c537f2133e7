// SPDX-License-Identifier: Apache-2.0
// Mode `glow-interpreter`: Glow's Interpreter backend, in float32, with one formula per operator.
// Kernels round half away from zero; Quantize, Rescale, Max and Min round half to even.

#include "core/numerics/formulas.h"
#include "core/numerics/glow.h"

namespace octavo::numerics {
namespace {

RescaleFormula Rescale(ChannelQuant from, ChannelQuant to) {
  return RescaleThroughFloat(&GlowQuantize, from, to);
}

float MultiplierOf(const ProductQuant& quant) { return quant.x * quant.w / quant.y; }

// Convolution and MatMul: round(float(sum) * m + z).
RequantizeFormula RoundWithOffset(const ProductQuant& quant) {
  return [m = MultiplierOf(quant), offset = static_cast<float>(quant.zero_point)](int64_t sum) {
    return int64_t{RoundHalfAway(static_cast<float>(sum) * m + offset)};
  };
}

// FullyConnected and Mul: round(float(sum) * m) + z.
RequantizeFormula RoundThenOffset(const ProductQuant& quant) {
  return [m = MultiplierOf(quant), offset = quant.zero_point](int64_t sum) {
    return int64_t{RoundHalfAway(static_cast<float>(sum) * m)} + offset;
  };
}

// Rounds the operands to steps of 2^-15, adds them, and rounds the sum with the offset.
BinaryFormula Add(const BinaryTypes& types) {
  constexpr float kFine = 0x1p-15f;
  const float by_a = types.a.quant->scale() / kFine, by_b = types.b.quant->scale() / kFine;
  const float by_sum = kFine / types.y.quant->scale();
  return [by_a, by_b, by_sum, offset = static_cast<float>(types.y.quant->zero_point()),
          range = ir::IntegerRangeOf(types.y.dtype)](int32_t a, int32_t b) {
    const int64_t sum = int64_t{RoundHalfAway(static_cast<float>(a) * by_a)} +
                        RoundHalfAway(static_cast<float>(b) * by_b);
    return Clamp(RoundHalfAway(static_cast<float>(sum) * by_sum + offset), range);
  };
}

// Has no finer steps: rounds once, with the offset included.
BinaryFormula Subtract(const BinaryTypes& types) {
  const float out = types.y.quant->scale();
  return [by_a = types.a.quant->scale() / out, by_b = types.b.quant->scale() / out,
          offset = static_cast<float>(types.y.quant->zero_point()),
          range = ir::IntegerRangeOf(types.y.dtype)](int32_t a, int32_t b) {
    const float left = by_a * static_cast<float>(a), right = by_b * static_cast<float>(b);
    return Clamp(RoundHalfAway(left - right + offset), range);
  };
}

BinaryFormula Multiplied(const BinaryTypes& types) {
  return Multiply(RoundThenOffset(ProductOf(types)), types.y);
}

// round(float(sum) * (s_x / s_y / count) + z)
PoolFormula AveragePool(const ir::Type& x, const ir::Type& y, const PoolWindows&) {
  return [ratio = x.quant->scale() / y.quant->scale(),
          offset = static_cast<float>(y.quant->zero_point()),
          range = ir::IntegerRangeOf(y.dtype)](const PoolSum& window) {
    const float multiplier = ratio / static_cast<float>(window.count);
    return Clamp(RoundHalfAway(static_cast<float>(window.sum) * multiplier + offset), range);
  };
}

constexpr ProductRow kProducts[] = {
    {"Conv", &RoundWithOffset}, {"Gemm", &RoundThenOffset}, {"MatMul", &RoundWithOffset}};
constexpr BinaryRow kBinary[] = {{"Add", &Add},
                                 {"Sub", &Subtract},
                                 {"Mul", &Multiplied},
                                 {"Max", &RescaleAndChoose<Greater, &Rescale>},
                                 {"Min", &RescaleAndChoose<Lesser, &Rescale>}};

}  // namespace

extern constexpr Mode kGlowInterpreter{
    .name = "glow-interpreter",
    .quantize = &GlowQuantize,
    .rescale = &Rescale,
    .products = kProducts,
    .binary = kBinary,
    .average_pool = &AveragePool,
    .tables = {.inputs = &GlowTableInputs, .quantize = &GlowQuantize},
    .rescale_is_quantize_of_dequantize = true,
    .empty_pool_window_is_zero = true,
    .glow_zero_points = true};

}  // namespace octavo::numerics
