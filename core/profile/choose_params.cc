// SPDX-License-Identifier: Apache-2.0
#include "core/profile/choose_params.h"

#include <algorithm>
#include <cmath>

namespace octavo::profile {
namespace {

// Smaller scales would make the product of two scales, or the ratio of the product to a third
// scale, subnormal.
constexpr float kLeastScale = 0x1p-60f;

Params Finish(double scale, int32_t zero_point) {
  Params params{.scale = static_cast<float>(scale), .zero_point = zero_point};
  if (params.scale < kLeastScale) {
    params.scale = kLeastScale;
    params.floored = true;
  }
  return params;
}

// Glow computes the zero point from both ends and keeps the result with the smaller sum of
// magnitudes.
Params FromTheNearerEnd(double min, double max, double low, double high) {
  const double scale = (max - min) / (high - low);
  const double from_min = low - min / scale, from_max = high - max / scale;
  const double error_min = std::fabs(low) + std::fabs(min / scale);
  const double error_max = std::fabs(high) + std::fabs(max / scale);
  const double zero = std::round(error_min < error_max ? from_min : from_max);
  return Finish(scale, static_cast<int32_t>(std::clamp(zero, low, high)));
}

Params Asymmetric(double min, double max, const Scheme& scheme) {
  const ir::IntegerRange integers = IntegersOf(scheme);
  const auto low = static_cast<double>(integers.min);
  const auto high = static_cast<double>(integers.max);
  if (scheme.glow_zero) return FromTheNearerEnd(min, max, low, high);
  const double scale = (max - min) / (high - low);
  // For [-a, a], low - min / scale is a tie for every a; the integer bounds give the same rounding
  // for every a.
  const double zero =
      min == -max ? std::nearbyint((low + high) / 2) : std::nearbyint(low - min / scale);
  return Finish(scale, static_cast<int32_t>(std::clamp(zero, low, high)));
}

Params Symmetric(double min, double max, const Scheme& scheme) {
  const ir::IntegerRange integers = IntegersOf(scheme);
  const int32_t zero = ir::IsSigned(scheme.dtype)
                           ? 0
                           : static_cast<int32_t>((ir::IntegerRangeOf(scheme.dtype).max + 1) / 2);
  double scale = 0;
  if (integers.min < zero) scale = std::max(scale, -min / static_cast<double>(zero - integers.min));
  scale = std::max(scale, max / static_cast<double>(integers.max - zero));
  return Finish(scale, zero);
}

}  // namespace

float RoundUpToPowerOfTwo(float scale) {
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);
  return std::ldexp(1.0f, fraction == 0.5f ? exponent - 1 : exponent);
}

Scheme SchemeOf(const target::Target& target) {
  return SchemeOf(target, target.activations.front());
}

Scheme SchemeOf(const target::Target& target, ir::DType dtype) {
  return {.kind = target.scheme, .dtype = dtype, .glow_zero = target.glow_zero_points()};
}

Scheme WeightSchemeOf(const target::Target& target) {
  const target::WeightRule& rule = target.weights;
  return {.kind = target.pow2_scales ? target::SchemeKind::kPow2
                  : rule.symmetric   ? target::SchemeKind::kSymmetric
                                     : target::SchemeKind::kAsymmetric,
          .dtype = rule.dtype,
          .narrow_range = rule.narrow_range,
          .glow_zero = target.glow_zero_points()};
}

ir::IntegerRange IntegersOf(const Scheme& scheme) {
  ir::IntegerRange integers = ir::IntegerRangeOf(scheme.dtype);
  if (scheme.narrow_range && ir::IsSigned(scheme.dtype)) ++integers.min;
  return integers;
}

Params ChooseParams(float min, float max, const Scheme& scheme) {
  const double low = std::min(0.0, double{min});
  const double high = std::max(0.0, double{max});
  const bool symmetric = scheme.kind != target::SchemeKind::kAsymmetric &&
                         !(scheme.kind == target::SchemeKind::kSymmetricUint8 && low == 0);
  Params params;
  if (low == 0 && high == 0) {
    params = {.scale = 1, .zero_point = Symmetric(-1, 1, scheme).zero_point, .all_zero = true};
    if (!symmetric) params.zero_point = Asymmetric(-1, 1, scheme).zero_point;
    return params;
  }
  params = symmetric ? Symmetric(low, high, scheme) : Asymmetric(low, high, scheme);
  if (scheme.kind == target::SchemeKind::kPow2) params.scale = RoundUpToPowerOfTwo(params.scale);
  return params;
}

}  // namespace octavo::profile
