// Add and Sub in the modes beside `onnx`.
#include <algorithm>

#include "core/ops/fixed_point.h"
#include "core/runtime/mode_binary.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

int32_t Coded(int64_t value, const ir::Type& y) {
  return ops::ClampCode(value + y.quant->zero_point(), ir::CodesOf(y.dtype));
}

// TFLite: both operands at twice the greater scale with `left` bits more, summed, scaled once more.
template <int kSign>
BinaryFormula Tflite(Numerics mode, const BinaryTypes& types) {
  if (types.AreWide() && !types.AreSymmetric()) return {};
  const int left = types.AreWide() ? 15 : 20;
  const double a = types.a.quant->scale(), b = types.b.quant->scale();
  const double twice = 2 * std::max(a, b);
  const double out = twice / (static_cast<double>(1 << left) * double{types.y.quant->scale()});
  if (!(out < 1)) return {};  // TFLite has no multiplier for it
  const auto multiply =
      mode == Numerics::kTflite ? &ops::MultiplyDoubleRounding : &ops::MultiplySingleRounding;
  return
      [multiply, left, y = types.y, by_a = ops::ToFixedPoint(a / twice),
       by_b = ops::ToFixedPoint(b / twice), by_sum = ops::ToFixedPoint(out)](int32_t a, int32_t b) {
        const int64_t more = int64_t{1} << left;
        const int64_t sum = int64_t{multiply(a * more, by_a)} + kSign * multiply(b * more, by_b);
        return Coded(multiply(sum, by_sum), y);
      };
}

// Glow's Interpreter: operands at 2^-15 of a real, rounded, summed, rounded with the offset.
BinaryFormula GlowAdd(Numerics, const BinaryTypes& types) {
  constexpr float kFine = 0x1p-15f;
  const float by_a = types.a.quant->scale() / kFine, by_b = types.b.quant->scale() / kFine;
  const float by_sum = kFine / types.y.quant->scale();
  return [by_a, by_b, by_sum, offset = static_cast<float>(types.y.quant->zero_point()),
          codes = ir::CodesOf(types.y.dtype)](int32_t a, int32_t b) {
    const int64_t sum = int64_t{ops::RoundHalfAway(static_cast<float>(a) * by_a)} +
                        ops::RoundHalfAway(static_cast<float>(b) * by_b);
    return ops::ClampCode(ops::RoundHalfAway(static_cast<float>(sum) * by_sum + offset), codes);
  };
}

// The same backend's Sub: no fine steps, one rounding with the offset inside.
BinaryFormula GlowSub(Numerics, const BinaryTypes& types) {
  const float out = types.y.quant->scale();
  return [by_a = types.a.quant->scale() / out, by_b = types.b.quant->scale() / out,
          offset = static_cast<float>(types.y.quant->zero_point()),
          codes = ir::CodesOf(types.y.dtype)](int32_t a, int32_t b) {
    const float left = by_a * static_cast<float>(a), right = by_b * static_cast<float>(b);
    return ops::ClampCode(ops::RoundHalfAway(left - right + offset), codes);
  };
}

// Glow's CPU backend: each operand through its own transform, then the sum.
template <int kSign>
BinaryFormula GlowCpu(Numerics, const BinaryTypes& types) {
  const float out = types.y.quant->scale();
  return [y = types.y, by_a = ops::ToGlowTransform(types.a.quant->scale() / out),
          by_b = ops::ToGlowTransform(types.b.quant->scale() / out)](int32_t a, int32_t b) {
    return Coded(int64_t{ops::Transform(a, by_a)} + kSign * ops::Transform(b, by_b), y);
  };
}

// Powers of two: both operands at the finer scale, exactly, and one rounding shift of the sum.
// Further apart than int32 is wide, the finer one is not computed with.
template <int kSign>
BinaryFormula Pow2(Numerics, const BinaryTypes& types) {
  for (const ir::Type* type : {&types.a, &types.b, &types.y}) {
    if (!ops::IsPowerOfTwo(type->quant->scale())) return {};
  }
  const int a_exponent = ops::ExponentOf(types.a.quant->scale());
  const int b_exponent = ops::ExponentOf(types.b.quant->scale());
  const int finer = std::min(a_exponent, b_exponent);
  if (std::max(a_exponent, b_exponent) - finer > 31) return {};
  return [y = types.y, a_more = int64_t{1} << (a_exponent - finer),
          b_more = int64_t{1} << (b_exponent - finer),
          shift = finer - ops::ExponentOf(types.y.quant->scale())](int32_t a, int32_t b) {
    return Coded(ops::ShiftRounding(a * a_more + kSign * b * b_more, shift), y);
  };
}

constexpr BinaryRow kRows[] = {
    {Numerics::kTflite, "Add", &Tflite<1>},
    {Numerics::kTflite, "Sub", &Tflite<-1>},
    {Numerics::kTfliteSingle, "Add", &Tflite<1>},
    {Numerics::kTfliteSingle, "Sub", &Tflite<-1>},
    {Numerics::kGlowInterpreter, "Add", &GlowAdd},
    {Numerics::kGlowInterpreter, "Sub", &GlowSub},
    {Numerics::kGlowCpu, "Add", &GlowCpu<1>},
    {Numerics::kGlowCpu, "Sub", &GlowCpu<-1>},
    {Numerics::kPow2, "Add", &Pow2<1>},
    {Numerics::kPow2, "Sub", &Pow2<-1>},
};

}  // namespace

std::span<const BinaryRow> SumRows() { return kRows; }

}  // namespace octavo::runtime
