#include "core/passes/type_range.h"

#include <algorithm>

#include "core/ops/code_rescale.h"
#include "core/ops/mode_quantize.h"

namespace octavo::passes {
namespace {

// Whether the least and the greatest code of a channel of `inner` keep within outer's codes.
struct EndsFit {
  bool low = false;
  bool high = false;
};

ops::CodePair PairOf(const ir::Type& type, int64_t channel) {
  return {type.quant->scale(channel), type.quant->zero_point(channel)};
}

EndsFit FitOf(const ir::Type& inner, const ir::Type& outer, int64_t channel, ir::Numerics mode) {
  const auto rescale = ops::CodeRescale::Of(mode, PairOf(inner, channel), PairOf(outer, channel));
  if (!rescale) return {};
  const ir::CodeRange codes = OccurringCodes(inner, channel, mode);
  const ir::CodeRange most = ir::CodesOf(outer.dtype);
  return {.low = rescale->BeforeClamp(codes.min) >= most.min,
          .high = rescale->BeforeClamp(codes.max) <= most.max};
}

// Whether one requantization may be more than half a step off: tflite rounds twice, glow-cpu cuts
// bits off before it multiplies.
bool RoundsFar(ir::Numerics mode) {
  return mode == ir::Numerics::kTflite || mode == ir::Numerics::kGlowCpu;
}

int64_t ChannelsOf(const ir::Type& type) { return static_cast<int64_t>(type.quant->scales.size()); }

bool SameAxis(const ir::Type& a, const ir::Type& b) {
  return a.quant->per_tensor() || b.quant->per_tensor() || a.quant->axis == b.quant->axis;
}

}  // namespace

ir::CodeRange OccurringCodes(const ir::Type& type, int64_t channel, ir::Numerics mode) {
  const ir::CodeRange codes = ir::CodesOf(type.dtype);
  if (!type.range) return codes;
  const auto code = [&](float real) {
    return int64_t{ops::QuantizeOneIn(mode, real, type.quant->scale(channel),
                                      type.quant->zero_point(channel), codes)};
  };
  const int64_t further = RoundsFar(mode) ? 1 : 0;
  return {std::max(codes.min, code(type.range->min) - further),
          std::min(codes.max, code(type.range->max) + further)};
}

bool RangeInside(const ir::Type& inner, const ir::Type& outer, ir::Numerics mode) {
  if (!SameAxis(inner, outer)) return false;
  const int64_t channels = std::max(ChannelsOf(inner), ChannelsOf(outer));
  for (int64_t c = 0; c < channels; ++c) {
    const EndsFit fit = FitOf(inner, outer, c, mode);
    if (!fit.low || !fit.high) return false;
  }
  return true;
}

bool IntersectionInside(const ir::Type& a, const ir::Type& b, const ir::Type& outer,
                        ir::Numerics mode) {
  if (!SameAxis(a, outer) || !SameAxis(b, outer) || !SameAxis(a, b)) return false;
  // What is proven of b may be so because `outer` clamps; what clamps in b are its codes.
  ir::Type whole = b;
  whole.range.reset();
  const int64_t channels = std::max({ChannelsOf(a), ChannelsOf(b), ChannelsOf(outer)});
  for (int64_t c = 0; c < channels; ++c) {
    const EndsFit first = FitOf(a, outer, c, mode), second = FitOf(whole, outer, c, mode);
    if (!(first.low || second.low) || !(first.high || second.high)) return false;
  }
  return true;
}

Effect EffectOfOmitting(const ir::Type& kept, const ir::Type& omitted, ir::Numerics mode) {
  return RangeInside(kept, omitted, mode) ? Effect::kFewerRoundings : Effect::kFewerClamps;
}

}  // namespace octavo::passes
