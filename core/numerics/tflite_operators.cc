// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/tflite_operators.h"

#include <algorithm>
#include <cmath>

#include "core/numerics/formulas.h"

namespace octavo::numerics {
namespace {

bool AreWide(const BinaryTypes& types) { return ir::SizeOf(types.y.dtype) > 1; }

bool AreSymmetric(const BinaryTypes& types) {
  return types.a.quant->zero_point() == 0 && types.b.quant->zero_point() == 0 &&
         types.y.quant->zero_point() == 0;
}

FixedPoint MultiplierOf(const ProductQuant& quant) {
  return ToFixedPoint(double{quant.x} * double{quant.w} / double{quant.y});
}

bool IsOneType(const ir::Type& a, const ir::Type& b) {
  return a.dtype == b.dtype && a.quant == b.quant;
}

template <class Choose>
BinaryFormula ChooseOfOneType(const BinaryTypes& types) {
  if (!IsOneType(types.a, types.y) || !IsOneType(types.b, types.y)) return {};
  return
      [zero = types.y.quant->zero_point()](int32_t a, int32_t b) { return Choose()(a, b) + zero; };
}

}  // namespace

double TfliteQuantize(float x, ChannelQuant to) {
  return double{std::round(x / to.scale)} + to.zero_point;
}

RescaleFormula TfliteRescale(const TfliteRounding& rounding, ChannelQuant from, ChannelQuant to) {
  return [multiply = rounding.multiply, m = ToFixedPoint(double{from.scale} / double{to.scale}),
          x_zero = from.zero_point, y_zero = to.zero_point](int64_t value) {
    return int64_t{multiply(value - x_zero, m)} + y_zero;
  };
}

RequantizeFormula TfliteRequantize(const TfliteRounding& rounding, const ProductQuant& quant) {
  return [multiply = rounding.multiply, m = MultiplierOf(quant),
          offset = quant.zero_point](int64_t sum) { return int64_t{multiply(sum, m)} + offset; };
}

RequantizeFormula TfliteRequantizeInt16(const ProductQuant& quant) {
  const FixedPoint m = MultiplierOf(quant);
  if (m.shift < -31 || m.shift > 7) return {};
  return [m, offset = quant.zero_point](int64_t sum) {
    return int64_t{MultiplyWide(sum, m)} + offset;
  };
}

// Rescales both operands to twice the greater scale with `left` extra bits, adds them, and rescales
// the sum.
BinaryFormula TfliteAdd(const TfliteRounding& rounding, int sign, const BinaryTypes& types) {
  if (AreWide(types) && !AreSymmetric(types)) return {};
  const int left = AreWide(types) ? 15 : 20;
  const double a_scale = types.a.quant->scale(), b_scale = types.b.quant->scale();
  const double twice = 2 * std::max(a_scale, b_scale);
  const double out = twice / (static_cast<double>(1 << left) * double{types.y.quant->scale()});
  if (!(out < 1)) return {};  // TFLite has no multiplier for this ratio
  return [multiply = rounding.multiply, sign, more = int64_t{1} << left,
          by_a = ToFixedPoint(a_scale / twice), by_b = ToFixedPoint(b_scale / twice),
          by_sum = ToFixedPoint(out), to = ChannelQuant::Of(types.y),
          range = ir::IntegerRangeOf(types.y.dtype)](int32_t a, int32_t b) {
    const int64_t sum = int64_t{multiply(a * more, by_a)} + sign * multiply(b * more, by_b);
    return Stored(multiply(sum, by_sum), to, range);
  };
}

BinaryFormula TfliteMultiply(const TfliteRounding& rounding, const BinaryTypes& types) {
  if (!AreWide(types)) return Multiply(TfliteRequantize(rounding, ProductOf(types)), types.y);
  if (!AreSymmetric(types)) return {};
  return [m = MultiplierOf(ProductOf(types)), range = ir::IntegerRangeOf(types.y.dtype)](
             int32_t a, int32_t b) { return Clamp(MultiplyWide(int64_t{a} * b, m), range); };
}

BinaryFormula TfliteMaximum(const BinaryTypes& types) { return ChooseOfOneType<Greater>(types); }
BinaryFormula TfliteMinimum(const BinaryTypes& types) { return ChooseOfOneType<Lesser>(types); }

PoolFormula TfliteAveragePool(const ir::Type& x, const ir::Type& y, const PoolWindows& windows) {
  if (!IsOneType(x, y) || windows.padding_counts || windows.empty) return {};
  return
      [zero = x.quant->zero_point(), range = ir::IntegerRangeOf(y.dtype)](const PoolSum& window) {
        const int64_t sum = window.sum + window.inside * zero, half = window.count / 2;
        return Clamp((sum > 0 ? sum + half : sum - half) / window.count, range);
      };
}

}  // namespace octavo::numerics
