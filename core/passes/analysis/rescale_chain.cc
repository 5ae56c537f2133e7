// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/rescale_chain.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/numerics/mode.h"
#include "core/ops/quantize_math.h"
#include "core/passes/analysis/type_range.h"

namespace octavo::passes {
namespace {

using ir::Type;
using numerics::Mode;

// The maximum number of values that one proof enumerates, over all channels.
constexpr int64_t kMaxEnumerated = 1 << 22;

// A Rescale of one channel, including the clamp.
struct Step {
  numerics::RescaleFormula rescale;
  ir::IntegerRange range;

  int64_t Code(int64_t code) const { return std::clamp(rescale(code), range.min, range.max); }
};

std::optional<Step> StepOf(const Type& from, const Type& to, int64_t channel, const Mode& mode) {
  numerics::RescaleFormula rescale = mode.rescale(numerics::ChannelQuant::Of(from, channel),
                                                  numerics::ChannelQuant::Of(to, channel));
  if (!rescale) return std::nullopt;
  return Step{std::move(rescale), ir::IntegerRangeOf(to.dtype)};
}

std::optional<std::vector<Step>> StepsOf(RescaleChain chain, int64_t channel, const Mode& mode) {
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

// The number of channels to check for all these types; nullopt if their axes differ or are too
// large to enumerate.
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
  const ir::IntegerRange range = ir::IntegerRangeOf(first.dtype);
  if (channels > kMaxEnumerated / (range.max - range.min + 1)) return std::nullopt;
  return channels;
}

}  // namespace

bool SameResults(RescaleChain one, RescaleChain other, const Mode& mode) {
  const auto channels = ChannelsOf(one, other);
  if (!channels) return false;
  for (int64_t c = 0; c < *channels; ++c) {
    const auto first = StepsOf(one, c, mode), second = StepsOf(other, c, mode);
    if (!first || !second) return false;
    const ir::IntegerRange range = PossibleValues(**one.begin(), c, mode);
    for (int64_t code = range.min; code <= range.max; ++code) {
      if (Follow(*first, code) != Follow(*second, code)) return false;
    }
  }
  return true;
}

bool IsInjective(const Type& from, const Type& to, const Mode& mode) {
  const auto channels = ChannelsOf({&from, &to}, {&from});
  if (!channels) return false;
  for (int64_t c = 0; c < *channels; ++c) {
    const auto step = StepOf(from, to, c, mode);
    if (!step) return false;
    // A Rescale is monotone, so if any two results are equal, those of two adjacent operands are.
    const ir::IntegerRange range = PossibleValues(from, c, mode);
    for (int64_t code = range.min; code < range.max; ++code) {
      if (step->Code(code) == step->Code(code + 1)) return false;
    }
  }
  return true;
}

std::optional<std::vector<float>> RealResults(RescaleChain chain, const Mode& mode) {
  const auto per_tensor = [](const Type* type) { return type->quant->per_tensor(); };
  if (!std::ranges::all_of(chain, per_tensor) || !ChannelsOf(chain, chain)) return std::nullopt;
  const auto steps = StepsOf(chain, 0, mode);
  if (!steps) return std::nullopt;
  const ir::Quant& last = *(*(chain.end() - 1))->quant;
  std::vector<float> results;
  const ir::IntegerRange range = PossibleValues(**chain.begin(), 0, mode);
  for (int64_t code = range.min; code <= range.max; ++code) {
    results.push_back(ops::DequantizeOne(static_cast<int32_t>(Follow(*steps, code)), last.scale(),
                                         last.zero_point()));
  }
  return results;
}

}  // namespace octavo::passes
