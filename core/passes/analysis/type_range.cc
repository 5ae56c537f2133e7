// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/type_range.h"

#include <algorithm>

#include "core/numerics/mode.h"
#include "core/ops/quantize_math.h"

namespace octavo::passes {
namespace {

// Whether the lowest and the highest value of a channel of `inner` are within outer's dtype.
struct EndsFit {
  bool low = false;
  bool high = false;
};

EndsFit FitOf(const ir::Type& inner, const ir::Type& outer, int64_t channel,
              const numerics::Mode& mode) {
  const numerics::RescaleFormula rescale = mode.rescale(numerics::ChannelQuant::Of(inner, channel),
                                                        numerics::ChannelQuant::Of(outer, channel));
  if (!rescale) return {};
  const ir::IntegerRange range = PossibleValues(inner, channel, mode);
  const ir::IntegerRange most = ir::IntegerRangeOf(outer.dtype);
  return {.low = rescale(range.min) >= most.min, .high = rescale(range.max) <= most.max};
}

int64_t ChannelsOf(const ir::Type& type) { return static_cast<int64_t>(type.quant->scales.size()); }

bool SameAxis(const ir::Type& a, const ir::Type& b) {
  return a.quant->per_tensor() || b.quant->per_tensor() || a.quant->axis == b.quant->axis;
}

}  // namespace

ir::IntegerRange PossibleValues(const ir::Type& type, int64_t channel, const numerics::Mode& mode) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  if (!type.range) return range;
  const auto code = [&](float real) {
    return int64_t{numerics::QuantizeOne(mode.quantize, real,
                                         numerics::ChannelQuant::Of(type, channel), range)};
  };
  const int64_t further = mode.rounds_beyond_half ? 1 : 0;
  return {std::max(range.min, code(type.range->min) - further),
          std::min(range.max, code(type.range->max) + further)};
}

bool RangeInside(const ir::Type& inner, const ir::Type& outer, const numerics::Mode& mode) {
  if (!SameAxis(inner, outer)) return false;
  const int64_t channels = std::max(ChannelsOf(inner), ChannelsOf(outer));
  for (int64_t c = 0; c < channels; ++c) {
    const EndsFit fit = FitOf(inner, outer, c, mode);
    if (!fit.low || !fit.high) return false;
  }
  return true;
}

bool IntersectionInside(const ir::Type& a, const ir::Type& b, const ir::Type& outer,
                        const numerics::Mode& mode) {
  if (!SameAxis(a, outer) || !SameAxis(b, outer) || !SameAxis(a, b)) return false;
  // The proven range of b may follow from the clamp of `outer`, but b itself clamps only to its
  // dtype.
  ir::Type whole = b;
  whole.range.reset();
  const int64_t channels = std::max({ChannelsOf(a), ChannelsOf(b), ChannelsOf(outer)});
  for (int64_t c = 0; c < channels; ++c) {
    const EndsFit first = FitOf(a, outer, c, mode), second = FitOf(whole, outer, c, mode);
    if (!(first.low || second.low) || !(first.high || second.high)) return false;
  }
  return true;
}

Effect EffectOfOmitting(const ir::Type& kept, const ir::Type& omitted, const numerics::Mode& mode) {
  return RangeInside(kept, omitted, mode) ? Effect::kFewerRoundings : Effect::kFewerClamps;
}

}  // namespace octavo::passes
