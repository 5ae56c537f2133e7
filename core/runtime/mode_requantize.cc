#include "core/runtime/mode_requantize.h"

#include <algorithm>

namespace octavo::runtime {
namespace {

using ir::Numerics;

// Each: the code of `sum` before the clamp.
int64_t TfliteSteps(int64_t sum, const ModeMultiplier& m, int32_t zero_point) {
  return int64_t{ops::MultiplyDoubleRounding(sum, m.fixed)} + zero_point;
}
int64_t TfliteSingleSteps(int64_t sum, const ModeMultiplier& m, int32_t zero_point) {
  return int64_t{ops::MultiplySingleRounding(sum, m.fixed)} + zero_point;
}
// Codes of 16 bits are summed in 64.
int64_t TfliteWideSteps(int64_t sum, const ModeMultiplier& m, int32_t zero_point) {
  return int64_t{ops::MultiplyWide(sum, m.fixed)} + zero_point;
}
// Glow Interpreter, Convolution and MatMul: round(float(sum) * m + z), half away from zero.
int64_t GlowInsideSteps(int64_t sum, const ModeMultiplier& m, int32_t zero_point) {
  return ops::RoundHalfAway(static_cast<float>(sum) * m.real + static_cast<float>(zero_point));
}
// Glow Interpreter, FullyConnected and Mul: round(float(sum) * m) + z.
int64_t GlowAfterSteps(int64_t sum, const ModeMultiplier& m, int32_t zero_point) {
  return int64_t{ops::RoundHalfAway(static_cast<float>(sum) * m.real)} + zero_point;
}
int64_t GlowCpuSteps(int64_t sum, const ModeMultiplier& m, int32_t zero_point) {
  return int64_t{ops::Transform(sum, m.transform)} + zero_point;
}
int64_t Pow2Steps(int64_t sum, const ModeMultiplier& m, int32_t zero_point) {
  return int64_t{ops::ShiftRounding(sum, m.exponent)} + zero_point;
}

constexpr std::string_view kMatMul = "MatMul";

struct ProductRow {
  Numerics mode;
  std::string_view op;
  int64_t (*steps)(int64_t sum, const ModeMultiplier& m, int32_t zero_point);
};

// What each mode defines.
constexpr ProductRow kProducts[] = {
    {Numerics::kTflite, "Conv", &TfliteSteps},
    {Numerics::kTflite, "ConvTranspose", &TfliteSteps},
    {Numerics::kTflite, "Gemm", &TfliteSteps},
    {Numerics::kTflite, "MatMul", &TfliteSteps},
    {Numerics::kTflite, "Mul", &TfliteSteps},
    {Numerics::kTfliteSingle, "Conv", &TfliteSingleSteps},
    {Numerics::kTfliteSingle, "ConvTranspose", &TfliteSingleSteps},
    {Numerics::kTfliteSingle, "Gemm", &TfliteSingleSteps},
    {Numerics::kTfliteSingle, "MatMul", &TfliteSingleSteps},
    {Numerics::kTfliteSingle, "Mul", &TfliteSingleSteps},
    {Numerics::kGlowInterpreter, "Conv", &GlowInsideSteps},
    {Numerics::kGlowInterpreter, "Gemm", &GlowAfterSteps},
    {Numerics::kGlowInterpreter, "MatMul", &GlowInsideSteps},
    {Numerics::kGlowInterpreter, "Mul", &GlowAfterSteps},
    {Numerics::kGlowCpu, "Conv", &GlowCpuSteps},
    {Numerics::kGlowCpu, "Gemm", &GlowCpuSteps},
    {Numerics::kGlowCpu, "MatMul", &GlowCpuSteps},
    {Numerics::kGlowCpu, "Mul", &GlowCpuSteps},
    {Numerics::kPow2, "Conv", &Pow2Steps},
    {Numerics::kPow2, "ConvTranspose", &Pow2Steps},
    {Numerics::kPow2, "Gemm", &Pow2Steps},
    {Numerics::kPow2, "MatMul", &Pow2Steps},
    {Numerics::kPow2, "Mul", &Pow2Steps},
};

const ProductRow* FindProduct(Numerics mode, std::string_view op) {
  const auto* at = std::ranges::find_if(
      kProducts, [&](const ProductRow& row) { return row.mode == mode && row.op == op; });
  return at == std::end(kProducts) ? nullptr : at;
}

bool ArePowersOfTwo(const ir::Quant& quant) {
  return std::ranges::all_of(quant.scales, &ops::IsPowerOfTwo);
}

ModeMultiplier MultiplierOf(float x, float w, float y) {
  const float single = x * w / y;
  return {.fixed = ops::ToFixedPoint(double{x} * double{w} / double{y}),
          .transform = ops::ToGlowTransform(single),
          .real = single,
          .exponent = ops::ExponentOf(x) + ops::ExponentOf(w) - ops::ExponentOf(y)};
}

}  // namespace

bool ModeRequantizer::Defines(Numerics mode, std::string_view op, const ir::Quant& x,
                              const ir::Quant& w, const ir::Quant& y) {
  if (FindProduct(mode, op) == nullptr) return false;
  return mode != Numerics::kPow2 || (ArePowersOfTwo(x) && ArePowersOfTwo(w) && ArePowersOfTwo(y));
}

bool ModeRequantizer::DefinesWide(Numerics mode, std::string_view op, const ir::Type& x,
                                  const ir::Type& w, const ir::Type& y) {
  if (mode != Numerics::kTflite && mode != Numerics::kTfliteSingle) return false;
  const auto plain = [](const ir::Type& type, ir::DType dtype) {
    return type.dtype == dtype &&
           std::ranges::all_of(type.quant->zero_points, [](int32_t zero) { return zero == 0; });
  };
  if (!plain(x, ir::DType::kI16) || !plain(y, ir::DType::kI16)) return false;
  const bool two_activations = op == kMatMul && plain(w, ir::DType::kI16);
  if (!plain(w, ir::DType::kI8) && !two_activations) return false;
  return std::ranges::all_of(w.quant->scales, [&](float scale) {
    const int shift = MultiplierOf(x.quant->scale(), scale, y.quant->scale()).fixed.shift;
    return shift >= -31 && shift <= 7;
  });
}

ModeRequantizer::ModeRequantizer(Numerics mode, std::string_view op, const ir::Quant& x,
                                 const ir::Quant& w, const ir::Type& y, int64_t channels)
    : zero_point_(y.quant->zero_point()),
      codes_(ir::CodesOf(y.dtype)),
      steps_(y.dtype == ir::DType::kI16 ? &TfliteWideSteps : FindProduct(mode, op)->steps) {
  for (int64_t c = 0; c < channels; ++c) {
    multipliers_.push_back(MultiplierOf(x.scale(), w.scale(c), y.quant->scale()));
  }
}

}  // namespace octavo::runtime
