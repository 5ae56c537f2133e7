// SPDX-License-Identifier: Apache-2.0
#include "core/report/useful_part.h"

#include <algorithm>
#include <limits>

#include "core/ops/shared/useful_range.h"

namespace octavo::report {

std::optional<UsefulPart> UsefulPart::Of(const ir::Graph& quantized, ir::ValueId value) {
  const ir::Type& type = quantized.type(value);
  if (!type.quantized() || !type.quant->per_tensor() || quantized.CountUses(value) != 1 ||
      quantized.value(value).uses.size() != 1) {
    return std::nullopt;
  }
  const ir::Use& use = quantized.value(value).uses.front();
  const std::optional<ir::Range> useful = ops::UsefulRange(quantized.node(use.node));
  if (!useful || use.input != 0) return std::nullopt;
  const float scale = type.quant->scale();
  const auto zero = static_cast<float>(type.quant->zero_point());
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  const float low = (static_cast<float>(range.min) - zero) * scale;
  const float high = (static_cast<float>(range.max) - zero) * scale;
  UsefulPart part;
  // The ends of a type are within a step of those of its range.  One that is further inside clips
  // what the consumer would have told apart.
  part.low_ = low <= useful->min + scale ? low : -std::numeric_limits<float>::infinity();
  part.high_ = high >= useful->max - scale ? high : std::numeric_limits<float>::infinity();
  return part;
}

ir::Tensor UsefulPart::Clamped(const ir::Tensor& baseline) const {
  ir::Tensor clamped(ir::DType::kF32, baseline.shape());
  const auto clamp = [this](float value) {  // NaN stays NaN
    return value < low_ ? low_ : value > high_ ? high_ : value;
  };
  std::ranges::transform(baseline.values<float>(), clamped.mutable_values<float>().begin(), clamp);
  return clamped;
}

}  // namespace octavo::report
