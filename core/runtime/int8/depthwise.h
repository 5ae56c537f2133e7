// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution: one filter per channel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/parallel.h"
#include "core/float_exec/kernels/conv.h"
#include "core/runtime/int8/dense.h"

namespace octavo::runtime::int8::internal {

// Immutable once packed.  Images are NHWC and dense.
struct DepthwiseWeights {
  const Tiles* tiles = nullptr;
  float_exec::ConvShape shape = {};
  uint8_t flip = 0;
  std::vector<uint8_t> padding = {};  // stored zero points for one image row
  LineVector<int32_t> bias = {};      // padded to whole vectors, like multipliers
  LineVector<float> multipliers = {};
  RequantizeParams requantize = {};
  // Exactly one of `wide` and `interleaved` is used.  wide: [tap][channel].
  std::vector<int16_t> wide = {};
  // interleaved: for each output row of a strip and each block of 64 channels,
  // [row_group][column of the kernel][channel][4 rows].  A strip interleaves image rows, in as
  // many row_groups as cover the kernel's height.
  LineVector<int8_t> interleaved = {};
  int64_t row_groups = 0;
  int64_t strip_rows = 1;
};

// `weights.data` is [channels][taps].
DepthwiseWeights PackDepthwise(const float_exec::ConvShape& shape, const Weights& weights,
                               std::span<const int32_t> bias, const Activation& input,
                               const Requantization& requantization);

// Computes one image; applies `lookup` to the result unless it is null.
void RunDepthwise(const DepthwiseWeights& weights, const uint8_t* image, const LookupTable* lookup,
                  uint8_t* output, ThreadPool& pool);

}  // namespace octavo::runtime::int8::internal
