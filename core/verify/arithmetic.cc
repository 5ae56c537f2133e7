// SPDX-License-Identifier: Apache-2.0
#include "core/verify/arithmetic.h"

#include <algorithm>
#include <cmath>

namespace octavo::verify {
namespace {

int64_t Saturate(int64_t x) { return std::clamp<int64_t>(x, INT32_MIN, INT32_MAX); }

// m = multiplier * 2^(shift - 31)
struct Multiplier {
  int64_t multiplier = 0;
  int shift = 0;
};
Multiplier FixedPoint(double m) {
  int shift = 0;
  const double fraction = std::frexp(m, &shift);
  auto multiplier = static_cast<int64_t>(std::round(fraction * 2147483648.0));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) return {0, 0};
  if (shift > 30) return {INT32_MAX, 30};
  return {multiplier, shift};
}

// Twice rounded: a doubling high product, then a shift with ties away from zero.
int64_t TwiceRounded(int64_t x, Multiplier m) {
  const int64_t left = Saturate(x << std::max(m.shift, 0));
  const int64_t product = left * m.multiplier;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  const int64_t high = (product + nudge) / (int64_t{1} << 31);
  const int right = std::max(-m.shift, 0);
  if (right == 0) return high;
  const int64_t mask = (int64_t{1} << right) - 1;
  return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0 ? 1 : 0) ? 1 : 0);
}

// Once rounded, ties to +infinity.
int64_t OnceRounded(int64_t x, Multiplier m) {
  const int n = 31 - m.shift;
  if (n <= 0) return Saturate(x * m.multiplier);
  const int64_t product = x * m.multiplier;
  return Saturate((product + (int64_t{1} << (n - 1))) >> n);
}

// Glow's transform: a truncating shift, a product, a shift with ties to +infinity.
std::optional<int64_t> GlowCpu(int64_t x, float m) {
  if (!std::isnormal(m)) return std::nullopt;
  int exponent = 0, before = 0, after = 0;
  int64_t scale = 1;
  if (std::frexp(m, &exponent) == 0.5f) {
    --exponent;
    if (exponent > 30) return std::nullopt;
    if (exponent > 0) scale = int64_t{1} << exponent;
    if (exponent <= 0) after = -exponent;
  } else {
    while (m < 0.5f || (m < 256.0f && after < 15)) {
      m *= 2.0f;
      ++after;
    }
    while (m < 255.0f && before < after / 2) {
      m *= 2.0f;
      ++before;
    }
    scale = static_cast<int64_t>(std::round(m));
  }
  if (after > 31 || before > 31) return std::nullopt;
  const int64_t product = (x >> before) * scale;
  const int64_t sum = product + (after > 0 ? int64_t{1} << (after - 1) : 0);
  if (sum != Saturate(sum)) return std::nullopt;  // 32 bits overflow: not decided here
  return sum >> after;
}

std::optional<int64_t> Shifted(int64_t x, float from, float to) {
  int of_from = 0, of_to = 0;
  if (std::frexp(from, &of_from) != 0.5f || std::frexp(to, &of_to) != 0.5f) return std::nullopt;
  const int exponent = of_from - of_to;
  if (exponent > 30 || exponent < -62) return std::nullopt;
  if (exponent >= 0) return Saturate(x << exponent);
  return (x + (int64_t{1} << (-exponent - 1))) >> -exponent;
}

int64_t Stored(double value, const Grid& to) {
  if (std::isnan(value)) return to.zero_point;
  return static_cast<int64_t>(
      std::clamp(value, static_cast<double>(to.least), static_cast<double>(to.most)));
}

}  // namespace

std::optional<Mode> ParseMode(std::string_view name) {
  static constexpr std::pair<std::string_view, Mode> kNames[] = {
      {"onnx", Mode::kOnnx},
      {"tflite", Mode::kTflite},
      {"tflite-single", Mode::kTfliteSingle},
      {"glow-interpreter", Mode::kGlowInterpreter},
      {"glow-cpu", Mode::kGlowCpu},
      {"pow2", Mode::kPow2}};
  for (const auto& [known, mode] : kNames) {
    if (known == name) return mode;
  }
  return std::nullopt;
}

Grid Grid::Of(const ir::Type& type, int64_t channel) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  return {type.quant->scale(channel), type.quant->zero_point(channel), range.min, range.max};
}

int64_t QuantizeReal(Mode mode, float x, const Grid& to) {
  switch (mode) {
    case Mode::kOnnx:
      return Stored(static_cast<double>(std::nearbyint(x / to.scale)) + to.zero_point, to);
    case Mode::kTflite:
    case Mode::kTfliteSingle:
      return Stored(static_cast<double>(std::round(x / to.scale)) + to.zero_point, to);
    case Mode::kGlowInterpreter:
    case Mode::kGlowCpu:
      return Stored(std::nearbyint(x / to.scale + static_cast<float>(to.zero_point)), to);
    case Mode::kPow2:
      return Stored(std::floor(double{x} / double{to.scale} + 0.5) + to.zero_point, to);
  }
  return to.zero_point;
}

std::optional<int64_t> RescaleStored(Mode mode, int64_t stored, const Grid& from, const Grid& to) {
  const int64_t x = stored - from.zero_point;
  std::optional<int64_t> steps;
  switch (mode) {
    case Mode::kOnnx:
    case Mode::kGlowInterpreter:
      return QuantizeReal(mode, RealOf(stored, from), to);
    case Mode::kTflite:
      steps = TwiceRounded(x, FixedPoint(double{from.scale} / double{to.scale}));
      break;
    case Mode::kTfliteSingle:
      steps = OnceRounded(x, FixedPoint(double{from.scale} / double{to.scale}));
      break;
    case Mode::kGlowCpu:
      steps = GlowCpu(x, from.scale / to.scale);
      break;
    case Mode::kPow2:
      steps = Shifted(x, from.scale, to.scale);
      break;
  }
  if (!steps) return std::nullopt;
  return std::clamp(*steps + to.zero_point, to.least, to.most);
}

std::optional<ir::Tensor> QuantizeConstant(Mode mode, const ir::Tensor& values,
                                           const ir::Type& to) {
  if (values.dtype() != ir::DType::kF32 || !to.quant || ir::SizeOf(to.dtype) > 4) return {};
  ir::Tensor result(to.dtype, values.shape());
  const std::span<const float> from = values.values<float>();
  for (int64_t i = 0; i < values.size(); ++i) {
    const int64_t stored = QuantizeReal(mode, from[i], Grid::Of(to, ir::ScaleOf(to, i)));
    // Little endian: the low bytes are the narrower integer.
    std::copy_n(reinterpret_cast<const std::byte*>(&stored), ir::SizeOf(to.dtype),
                result.mutable_raw() + i * ir::SizeOf(to.dtype));
  }
  return result;
}

std::optional<std::vector<double>> RealValuesOf(const ir::Tensor& tensor, const ir::Type& type) {
  std::vector<double> values(tensor.size());
  if (!type.quant) {
    if (!ir::IsFloat(tensor.dtype())) return std::nullopt;
    for (int64_t i = 0; i < tensor.size(); ++i) values[i] = tensor.FloatAt(i);
    return values;
  }
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const Grid step = Grid::Of(type, ir::ScaleOf(type, i));
    values[i] = static_cast<double>(tensor.IntAt(i) - step.zero_point) * double{step.scale};
  }
  return values;
}

}  // namespace octavo::verify
