// SPDX-License-Identifier: Apache-2.0
// TFLite's integer activations.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/numerics/fixed_curve.h"
#include "core/numerics/formulas.h"
#include "core/numerics/tflite_operators.h"

namespace octavo::numerics {
namespace {

// ---------------------------------------------------------------- HardSwish

int16_t Saturate16(int64_t x) {
  return static_cast<int16_t>(std::clamp<int64_t>(x, std::numeric_limits<int16_t>::min(), 0x7FFF));
}

// a * b * 2^-15.  HighProduct adds 2^14 to a product >= 0 and 1 - 2^14 to a negative one, then
// truncates; HighProductTowardsZero only truncates.
int16_t HighProduct(int16_t a, int16_t b) {
  const int32_t product = int32_t{a} * b;
  return Saturate16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}
int16_t HighProductTowardsZero(int16_t a, int16_t b) {
  return Saturate16(int32_t{a} * b / (1 << 15));
}

// A 16-bit multiplier.
struct FixedPoint16 {
  int16_t multiplier = 0;
  int shift = 0;
};

FixedPoint16 ToFixedPoint16(float m) {
  constexpr int32_t kHalf = 1 << 15;
  const FixedPoint wide = ToFixedPoint(m);
  const bool most = wide.multiplier >= std::numeric_limits<int32_t>::max() - kHalf;
  return {most ? int16_t{0x7FFF} : static_cast<int16_t>((wide.multiplier + kHalf) >> 16),
          wide.shift};
}

// y = x * relu6(x + 3) / 6 as a product of two 16-bit numbers; x has 128 times its resolution.
struct HardSwish {
  FixedPoint16 to_result, to_gate;

  HardSwish(const ir::Type& from, const ir::Type& to) {
    const float fine = 1.0f / 128.0f * from.quant->scale();
    to_result = ToFixedPoint16(fine / to.quant->scale());
    to_gate = ToFixedPoint16(fine / (3.0f / 32768.0f));
  }

  // TFLite rejects a result that is finer than the shift can express; a 16-bit number cannot be
  // shifted right by more than 15.
  bool Defined() const {
    return to_result.shift <= 0 && to_result.shift >= -15 && to_gate.shift >= -15 &&
           to_gate.shift <= 30;
  }

  // Maps x in [-3, 3] to [0, 1] with 15 fraction bits, saturating.
  int16_t Gate(int16_t fine) const {
    int16_t gate = fine;
    if (to_gate.shift > 0) gate = Saturate16(int64_t{gate} << (to_gate.shift - 1));
    gate = HighProduct(gate, to_gate.multiplier);
    if (to_gate.shift > 0) gate = Saturate16(int64_t{gate} * 2);
    if (to_gate.shift < 0) gate = static_cast<int16_t>(RoundingShiftRight(gate, -to_gate.shift));
    return static_cast<int16_t>((int32_t{gate} + (1 << 15)) >> 1);
  }

  int32_t Steps(int32_t x) const {
    const auto fine = static_cast<int16_t>(x * (1 << 7));
    const int16_t scaled = HighProduct(fine, to_result.multiplier);
    return RoundingShiftRight(HighProductTowardsZero(Gate(fine), scaled), -to_result.shift);
  }
};

// ---------------------------------------------------------------- Sigmoid, Tanh, Softmax

// Whether the type has the fixed quantization of a result in [0, 1] or [-1, 1].
bool HasScaleAndZero(const ir::Type& type, int fraction_bits, int32_t zero_point) {
  return type.quant->scale() == std::ldexp(1.0f, -fraction_bits) &&
         type.quant->zero_point() == zero_point;
}

// Differences of stored values as fixed-point numbers with `integer_bits`; differences beyond
// `radius` are not representable.
struct FixedInput {
  int32_t (*multiply)(int64_t x, FixedPoint m) = nullptr;
  FixedPoint multiplier = {};
  int64_t radius = 0;
  int integer_bits = 0;

  FixedInput(const TfliteRounding& rounding, double scale, int bits)
      : multiply(rounding.multiply), integer_bits(bits) {
    const double real = std::ldexp(scale, 31 - bits);
    multiplier = ToFixedPoint(std::min(real, rounding.greatest_input_multiplier));
    const double reach = std::ldexp((1 << bits) - 1, 31 - bits - multiplier.shift);
    radius = static_cast<int64_t>(std::floor(std::min(reach, 0x1p31)));
  }
  int32_t Of(int32_t difference) const { return multiply(difference, multiplier); }
};

struct Curve {
  int fraction_bits = 0;  // the result's scale is 2^-fraction_bits
  int32_t (*value)(int32_t x, int integer_bits) = nullptr;
};

UnaryFormula FixedCurve(const TfliteRounding& rounding, const Curve& curve, int32_t zero_point,
                        const ir::Type& x, const ir::Type& y) {
  if (!HasScaleAndZero(y, curve.fraction_bits, zero_point)) return {};
  return [curve, fixed = FixedInput(rounding, x.quant->scale(), 4), x_zero = x.quant->zero_point(),
          to = ChannelQuant::Of(y), range = ir::IntegerRangeOf(y.dtype)](int32_t value) {
    const int32_t difference = value - x_zero;
    if (difference <= -fixed.radius) return static_cast<int32_t>(range.min);
    if (difference >= fixed.radius) return static_cast<int32_t>(range.max);
    const int32_t raw = curve.value(fixed.Of(difference), fixed.integer_bits);
    return Stored(RoundingShiftRight(raw, 31 - curve.fraction_bits), to, range);
  };
}

// exponentials[d] is exp of the value d steps below the maximum of its row; 0 beyond the radius.
using Exponentials = std::array<int32_t, 256>;

void SoftmaxOfRow(const Exponentials& exponentials, ir::IntegerRange range,
                  std::span<const int32_t> x, std::span<int32_t> y) {
  constexpr int kSumBits = 12;  // integer bits of the sum
  const int32_t greatest = *std::ranges::max_element(x);
  int64_t sum = 0;
  for (const int32_t value : x) sum += RoundingShiftRight(exponentials[greatest - value], kSumBits);
  const auto bits = static_cast<uint32_t>(sum);
  const int headroom = std::countl_zero(bits);
  const int over_unit = kSumBits - headroom;
  const int32_t scale =
      FixedReciprocalOfOnePlus(static_cast<int32_t>((bits << headroom) - (1u << 31)));
  for (size_t i = 0; i < x.size(); ++i) {
    const int32_t product = DoublingHighMultiply(scale, exponentials[greatest - x[i]]);
    y[i] = Clamp(RoundingShiftRight(product, over_unit + 31 - 8) + range.min, range);
  }
}

}  // namespace

// Negative and non-negative inputs have separate multipliers, both computed in float32.
UnaryFormula TfliteLeakyRelu(const TfliteRounding& rounding, const ir::Type& x, const ir::Type& y,
                             const ir::AttrMap& attributes) {
  const float alpha = attributes.Float("alpha", 0.01f);
  if (x.dtype != y.dtype || !(alpha >= 0)) return {};
  const float from = x.quant->scale(), to = y.quant->scale();
  return [multiply = rounding.multiply, above = ToFixedPoint(from / to),
          below = ToFixedPoint(from * alpha / to), x_zero = x.quant->zero_point(),
          result = ChannelQuant::Of(y), range = ir::IntegerRangeOf(y.dtype)](int32_t value) {
    const int32_t centered = value - x_zero;
    return Stored(multiply(centered, centered >= 0 ? above : below), result, range);
  };
}

UnaryFormula TfliteHardSwish(const ir::Type& x, const ir::Type& y) {
  const HardSwish swish(x, y);
  if (x.dtype != y.dtype || !swish.Defined()) return {};
  return [swish, x_zero = x.quant->zero_point(), y_zero = y.quant->zero_point(),
          range = ir::IntegerRangeOf(y.dtype)](int32_t value) {
    // The sum with the zero point wraps around to 16 bits.
    return Clamp(static_cast<int16_t>(swish.Steps(value - x_zero) + y_zero), range);
  };
}

UnaryFormula TfliteSigmoid(const TfliteRounding& rounding, const ir::Type& x, const ir::Type& y) {
  const auto least = static_cast<int32_t>(ir::IntegerRangeOf(y.dtype).min);
  return FixedCurve(rounding, {8, &FixedLogistic}, least, x, y);
}

UnaryFormula TfliteTanh(const TfliteRounding& rounding, const ir::Type& x, const ir::Type& y) {
  const auto middle = static_cast<int32_t>(ir::IntegerRangeOf(y.dtype).min) + 128;
  return FixedCurve(rounding, {7, &FixedTanh}, middle, x, y);
}

// Undefined for rows with more ones than the 12 integer bits of the sum can hold, and for a scale
// whose multiplier is not above one.
RowFormula TfliteSoftmax(const TfliteRounding& rounding, const ir::Type& x, const ir::Type& y,
                         int64_t row) {
  const ir::IntegerRange range = ir::IntegerRangeOf(y.dtype);
  if (!HasScaleAndZero(y, 8, static_cast<int32_t>(range.min))) return {};
  if (row >= (1 << 12) || !(std::ldexp(double{x.quant->scale()}, 26) > 1)) return {};
  const FixedInput fixed(rounding, x.quant->scale(), 5);
  Exponentials exponentials = {};
  for (int below = 0; below < 256; ++below) {
    if (below > fixed.radius) continue;
    exponentials[below] = FixedExp(fixed.Of(-below), fixed.integer_bits);
  }
  return [exponentials, range](std::span<const int32_t> x, std::span<int32_t> y) {
    SoftmaxOfRow(exponentials, range, x, y);
  };
}

}  // namespace octavo::numerics
