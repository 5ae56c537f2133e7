#include "core/passes/type_range.h"

#include <algorithm>
#include <cmath>

namespace octavo::passes {
namespace {

struct Ends {
  float low = 0;
  float high = 0;
};

Ends EndsOf(const ir::Type& type, int64_t channel) {
  const ir::CodeRange codes = ir::CodesOf(type.dtype);
  const float scale = type.quant->scale(channel);
  const int32_t zero = type.quant->zero_point(channel);
  Ends ends{static_cast<float>(codes.min - zero) * scale,
            static_cast<float>(codes.max - zero) * scale};
  if (type.range) {
    ends.low = std::max(ends.low, type.range->min);
    ends.high = std::min(ends.high, type.range->max);
  }
  return ends;
}

bool HasCode(float real, const ir::Type& type, int64_t channel) {
  const ir::CodeRange codes = ir::CodesOf(type.dtype);
  const float steps = std::nearbyint(real / type.quant->scale(channel));
  const double code = double{steps} + type.quant->zero_point(channel);
  return code >= static_cast<double>(codes.min) && code <= static_cast<double>(codes.max);
}

int64_t ChannelsOf(const ir::Type& type) { return static_cast<int64_t>(type.quant->scales.size()); }

bool SameAxis(const ir::Type& a, const ir::Type& b) {
  return a.quant->per_tensor() || b.quant->per_tensor() || a.quant->axis == b.quant->axis;
}

}  // namespace

bool RangeInside(const ir::Type& inner, const ir::Type& outer) {
  return IntersectionInside(inner, inner, outer);
}

bool IntersectionInside(const ir::Type& a, const ir::Type& b, const ir::Type& outer) {
  if (!SameAxis(a, outer) || !SameAxis(b, outer) || !SameAxis(a, b)) return false;
  const int64_t channels = std::max({ChannelsOf(a), ChannelsOf(b), ChannelsOf(outer)});
  for (int64_t c = 0; c < channels; ++c) {
    const Ends left = EndsOf(a, c);
    const Ends right = EndsOf(b, c);
    const Ends both{std::max(left.low, right.low), std::min(left.high, right.high)};
    if (!HasCode(both.low, outer, c) || !HasCode(both.high, outer, c)) return false;
  }
  return true;
}

Effect EffectOfOmitting(const ir::Type& kept, const ir::Type& omitted) {
  return RangeInside(kept, omitted) ? Effect::kFewerRoundings : Effect::kFewerClamps;
}

}  // namespace octavo::passes
