// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of small planes, whose rows fit one or two vectors.  They permute the
// columns that a tap reads in registers, and process two planes per vector where possible.
#pragma once

#include "core/float_exec/kernels/conv.h"
#include "core/float_exec/kernels/tiles.h"

namespace octavo::float_exec::internal {

// Whether such rows fit the vectors of `tiles` and each input channel has one output channel.
// Requires groups == in_channels.
bool IsNarrow(const Tiles& tiles, const ConvShape& shape);

// As Convolve; `weights` is [out_channels, kernel_height * kernel_width].
void RunNarrow(const Tiles& tiles, const ConvShape& shape, const float* weights, const float* x,
               const float* bias, float* y, ThreadPool& pool);

}  // namespace octavo::float_exec::internal
