// SPDX-License-Identifier: Apache-2.0
// Convolutions with vectors of output channels.  They read each pixel in place and broadcast it to
// all lanes, so they pack no input and leave no lane idle at the end of a row of pixels.
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/parallel.h"
#include "core/float_exec/kernels/tiles.h"

namespace octavo::float_exec::internal {

// Packs weights [channels][taps] as panels of kMaxPixelVectors vectors of channels,
// [panel][tap][width].  The last panel has as many vectors as it needs, padded with 0.
int64_t PackedChannelsSize(const Tiles& tiles, int64_t channels, int64_t taps);
void PackChannels(const Tiles& tiles, const float* weights, int64_t channels, int64_t taps,
                  float* out);

// y[c][r * width + i] = bias[c] + chain over t ascending of weights[c][t] * x[r * row_step +
// offsets[t] + i].  A null bias adds nothing.
struct DirectConv {
  const Tiles* tiles = nullptr;
  int64_t channels = 0, taps = 0;
  int64_t rows = 0, width = 0, row_step = 0;
  const int64_t* offsets = nullptr;  // taps + kPrefetchTaps elements; the last offset repeats
  const float* weights = nullptr;    // packed by PackChannels
  const float* x = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
};

// Computes `count` convolutions of equal shape; make(i) returns the i-th.
void RunDirect(int64_t count, const DirectConv& shape,
               const std::function<DirectConv(int64_t)>& make, ThreadPool& pool);

}  // namespace octavo::float_exec::internal
