// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/int8/check.h"

#include <cmath>

namespace octavo::runtime::int8::internal {
namespace {

struct StorageRange {
  int32_t low = 0, high = 255;
  bool Holds(int32_t value) const { return value >= low && value <= high; }
};

StorageRange RangeOf(bool is_signed) {
  return is_signed ? StorageRange{-128, 127} : StorageRange{0, 255};
}
StorageRange RangeOf(Storage storage) { return RangeOf(storage == Storage::kS8); }

bool IsPerChannel(size_t size, int64_t channels) {
  return size == 1 || size == static_cast<size_t>(channels);
}

Status CheckRequantization(std::string_view what, const Requantization& requantization,
                           int64_t channels) {
  if (requantization.output == Output::kInt32) return {};
  if (!IsPerChannel(requantization.multipliers.size(), channels)) {
    return Fail(Code::kInvalidArgument, "{}: {} multipliers for {} output channels", what,
                requantization.multipliers.size(), channels);
  }
  for (const float multiplier : requantization.multipliers) {
    if (!std::isfinite(multiplier)) {
      return Fail(Code::kInvalidArgument, "{}: multiplier {} is not finite", what, multiplier);
    }
  }
  if (requantization.output == Output::kFloat) return {};
  const StorageRange range = RangeOf(requantization.output == Output::kS8);
  if (!range.Holds(requantization.zero_point) || !range.Holds(requantization.lowest) ||
      !range.Holds(requantization.highest) || requantization.lowest > requantization.highest) {
    return Fail(Code::kInvalidArgument,
                "{}: zero point {} and bounds [{}, {}] of the result must be within [{}, {}]", what,
                requantization.zero_point, requantization.lowest, requantization.highest, range.low,
                range.high);
  }
  return {};
}

}  // namespace

Status CheckOperands(std::string_view what, const Activation& input, const Weights& weights,
                     std::span<const int32_t> bias, const Requantization& requantization,
                     int64_t channels) {
  if (!RangeOf(input.storage).Holds(input.zero_point)) {
    return Fail(Code::kInvalidArgument, "{}: input zero point {} is outside of its type's range",
                what, input.zero_point);
  }
  if (!weights.zero_points.empty() && !IsPerChannel(weights.zero_points.size(), channels)) {
    return Fail(Code::kInvalidArgument, "{}: {} weight zero points for {} output channels", what,
                weights.zero_points.size(), channels);
  }
  for (const int32_t zero : weights.zero_points) {
    if (!RangeOf(weights.storage).Holds(zero)) {
      return Fail(Code::kInvalidArgument, "{}: weight zero point {} is outside of its type's range",
                  what, zero);
    }
  }
  if (!bias.empty() && bias.size() != static_cast<size_t>(channels)) {
    return Fail(Code::kInvalidArgument, "{}: {} biases for {} output channels", what, bias.size(),
                channels);
  }
  return CheckRequantization(what, requantization, channels);
}

}  // namespace octavo::runtime::int8::internal
