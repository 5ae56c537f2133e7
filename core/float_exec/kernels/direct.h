// SPDX-License-Identifier: Apache-2.0
// Convolutions with vectors of output channels: each pixel is read in place and broadcast to all
// lanes.  No input is packed, and no lane is idle at the end of a row of pixels.
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/parallel.h"
#include "core/float_exec/kernels/tiles.h"

namespace octavo::float_exec::internal {

// Weights [channels][taps] as panels of kMaxPixelVectors vectors of channels, [panel][tap][width],
// where the last panel is as wide as whole vectors need, filled with 0.
int64_t PackedChannelsSize(const Tiles& tiles, int64_t channels, int64_t taps);
void PackChannels(const Tiles& tiles, const float* weights, int64_t channels, int64_t taps,
                  float* out);

// y[c][r * width + i] = bias[c] + chain over t ascending of
// weights[c][t] * x[r * row_step + offsets[t] + i].  Without a bias nothing is added.
struct DirectConv {
  const Tiles* tiles = nullptr;
  int64_t channels = 0, taps = 0;
  int64_t rows = 0, width = 0, row_step = 0;
  const int64_t* offsets = nullptr;  // taps + kPrefetchTaps of them, the last repeated
  const float* weights = nullptr;    // as PackChannels has them
  const float* x = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
};

// Computes `count` convolutions of equal shape, where make(i) describes the i-th.
void RunDirect(int64_t count, const DirectConv& shape,
               const std::function<DirectConv(int64_t)>& make, ThreadPool& pool);

}  // namespace octavo::float_exec::internal
