// Packed weights of a depthwise convolution: one filter per channel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/runtime/int8/dense.h"

namespace octavo::runtime::int8::internal {

// Immutable once packed.
struct DepthwiseWeights {
  DepthwiseFunction function = nullptr;
  int64_t channels = 0;
  int64_t groups = 0;                    // of 4 taps
  std::vector<int8_t> interleaved = {};  // one of these two
  std::vector<int16_t> wide = {};
  std::vector<int32_t> bias = {};
  std::vector<float> multipliers = {};
  Ending ending = {};

  // The call for one pixel whose taps (4 * groups of them, as u8) and output are still to be set.
  DepthwiseCall Call() const;
};

// `weights.data` is [channels][taps].
DepthwiseWeights PackDepthwise(const Weights& weights, int64_t channels, int64_t taps,
                               std::span<const int32_t> bias, const Activation& input,
                               const Finish& finish);

}  // namespace octavo::runtime::int8::internal
