#include "core/runtime/int8/check.h"

#include <cmath>

namespace octavo::runtime::int8::internal {
namespace {

struct CodeRange {
  int32_t low = 0, high = 255;
  bool Holds(int32_t code) const { return code >= low && code <= high; }
};

CodeRange RangeOf(bool is_signed) { return is_signed ? CodeRange{-128, 127} : CodeRange{0, 255}; }
CodeRange RangeOf(Storage storage) { return RangeOf(storage == Storage::kS8); }

bool IsPerChannel(size_t size, int64_t channels) {
  return size == 1 || size == static_cast<size_t>(channels);
}

Status CheckFinish(std::string_view what, const Finish& finish, int64_t channels) {
  if (finish.output == Output::kInt32) return {};
  if (!IsPerChannel(finish.multipliers.size(), channels)) {
    return Fail(Code::kInvalidArgument, "{}: {} multipliers for {} output channels", what,
                finish.multipliers.size(), channels);
  }
  for (const float multiplier : finish.multipliers) {
    if (!std::isfinite(multiplier)) {
      return Fail(Code::kInvalidArgument, "{}: multiplier {} is not finite", what, multiplier);
    }
  }
  if (finish.output == Output::kFloat) return {};
  const CodeRange range = RangeOf(finish.output == Output::kS8);
  if (!range.Holds(finish.zero_point) || !range.Holds(finish.lowest) ||
      !range.Holds(finish.highest) || finish.lowest > finish.highest) {
    return Fail(Code::kInvalidArgument,
                "{}: zero point {} and bounds [{}, {}] of the result do not lie in [{}, {}]", what,
                finish.zero_point, finish.lowest, finish.highest, range.low, range.high);
  }
  return {};
}

}  // namespace

Status CheckOperands(std::string_view what, const Activation& input, const Weights& weights,
                     std::span<const int32_t> bias, const Finish& finish, int64_t channels) {
  if (!RangeOf(input.storage).Holds(input.zero_point)) {
    return Fail(Code::kInvalidArgument, "{}: input zero point {} is no code of its type", what,
                input.zero_point);
  }
  if (!weights.zero_points.empty() && !IsPerChannel(weights.zero_points.size(), channels)) {
    return Fail(Code::kInvalidArgument, "{}: {} weight zero points for {} output channels", what,
                weights.zero_points.size(), channels);
  }
  for (const int32_t zero : weights.zero_points) {
    if (!RangeOf(weights.storage).Holds(zero)) {
      return Fail(Code::kInvalidArgument, "{}: weight zero point {} is no code of its type", what,
                  zero);
    }
  }
  if (!bias.empty() && bias.size() != static_cast<size_t>(channels)) {
    return Fail(Code::kInvalidArgument, "{}: {} biases for {} output channels", what, bias.size(),
                channels);
  }
  return CheckFinish(what, finish, channels);
}

}  // namespace octavo::runtime::int8::internal
