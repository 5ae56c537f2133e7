// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution: one filter per channel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/parallel.h"
#include "core/float_exec/kernels/conv.h"
#include "core/runtime/int8/dense.h"

namespace octavo::runtime::int8::internal {

// Immutable once packed.  Images are N,H,W,C and dense.
struct DepthwiseWeights {
  const Tiles* tiles = nullptr;
  float_exec::ConvShape shape = {};
  uint8_t flip = 0;
  std::vector<uint8_t> padding = {};  // zero points as stored, for a row of the image
  LineVector<int32_t> bias = {};      // padded to whole vectors, as multipliers
  LineVector<float> multipliers = {};
  RequantizeParams requantize = {};
  // One of these two.  Wide: [tap][channel].
  std::vector<int16_t> wide = {};
  // For each output row of a strip (interleaved rows of the image, as many row_groups as hold the
  // kernel's height), each block of 64 channels: [row_group][column of the kernel][channel][4
  // rows].
  LineVector<int8_t> interleaved = {};
  int64_t row_groups = 0;
  int64_t strip_rows = 1;
};

// `spec_weights.data` is [channels][taps].
DepthwiseWeights PackDepthwise(const float_exec::ConvShape& shape, const Weights& weights,
                               std::span<const int32_t> bias, const Activation& input,
                               const Requantization& requantization);

// One image; a non-null `lookup` is applied to the result.
void RunDepthwise(const DepthwiseWeights& weights, const uint8_t* image, const LookupTable* lookup,
                  uint8_t* output, ThreadPool& pool);

}  // namespace octavo::runtime::int8::internal
