#include "core/passes/code_map.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/ops/code_rescale.h"
#include "core/passes/type_range.h"

namespace octavo::passes {
namespace {

using ir::Numerics;
using ir::Type;

// Codes looked at for one proof, over all channels.
constexpr int64_t kMostCodes = 1 << 22;

// One Rescale of a channel, clamped.
struct Step {
  ops::CodeRescale rescale;
  ir::CodeRange codes;

  int64_t Code(int64_t code) const {
    return std::clamp(rescale.BeforeClamp(code), codes.min, codes.max);
  }
};

std::optional<Step> StepOf(const Type& from, const Type& to, int64_t channel, Numerics mode) {
  const auto pair = [&](const Type& type) {
    return ops::CodePair{type.quant->scale(channel), type.quant->zero_point(channel)};
  };
  const auto rescale = ops::CodeRescale::Of(mode, pair(from), pair(to));
  if (!rescale) return std::nullopt;
  return Step{*rescale, ir::CodesOf(to.dtype)};
}

std::optional<std::vector<Step>> StepsOf(RescaleChain chain, int64_t channel, Numerics mode) {
  std::vector<Step> steps;
  for (auto at = chain.begin(); at + 1 < chain.end(); ++at) {
    const auto step = StepOf(*at[0], *at[1], channel, mode);
    if (!step) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

int64_t Follow(const std::vector<Step>& steps, int64_t code) {
  for (const Step& step : steps) code = step.Code(code);
  return code;
}

int64_t ChannelsOf(const Type& type) { return static_cast<int64_t>(type.quant->scales.size()); }

// The channels to look at for all of these types; nullopt where they cannot be enumerated.
std::optional<int64_t> ChannelsOf(RescaleChain one, RescaleChain other) {
  int64_t channels = 1;
  std::optional<int> axis;
  for (const RescaleChain& chain : {one, other}) {
    for (const Type* type : chain) {
      channels = std::max(channels, ChannelsOf(*type));
      if (type->quant->per_tensor()) continue;
      if (axis && axis != type->quant->axis) return std::nullopt;
      axis = type->quant->axis;
    }
  }
  const Type& first = **one.begin();
  if (ir::SizeOf(first.dtype) > 2) return std::nullopt;
  const ir::CodeRange codes = ir::CodesOf(first.dtype);
  if (channels > kMostCodes / (codes.max - codes.min + 1)) return std::nullopt;
  return channels;
}

}  // namespace

bool SameCodesBy(RescaleChain one, RescaleChain other, Numerics mode) {
  const auto channels = ChannelsOf(one, other);
  if (!channels) return false;
  for (int64_t c = 0; c < *channels; ++c) {
    const auto first = StepsOf(one, c, mode), second = StepsOf(other, c, mode);
    if (!first || !second) return false;
    const ir::CodeRange codes = OccurringCodes(**one.begin(), c, mode);
    for (int64_t code = codes.min; code <= codes.max; ++code) {
      if (Follow(*first, code) != Follow(*second, code)) return false;
    }
  }
  return true;
}

bool IsInjective(const Type& from, const Type& to, Numerics mode) {
  const auto channels = ChannelsOf({&from, &to}, {&from});
  if (!channels) return false;
  for (int64_t c = 0; c < *channels; ++c) {
    const auto step = StepOf(from, to, c, mode);
    if (!step) return false;
    // A Rescale is monotone, so equal codes would be neighbours' codes.
    const ir::CodeRange codes = OccurringCodes(from, c, mode);
    for (int64_t code = codes.min; code < codes.max; ++code) {
      if (step->Code(code) == step->Code(code + 1)) return false;
    }
  }
  return true;
}

}  // namespace octavo::passes
