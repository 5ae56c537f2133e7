// Depthwise convolutions of small planes, whose rows fit in one or two vectors: the columns that a
// tap reads are picked from the row in registers, and two planes share a vector where they can.
#pragma once

#include "core/reference/kernels/conv.h"
#include "core/reference/kernels/tiles.h"

namespace octavo::reference::internal {

// Whether the vectors of `tiles` hold such rows, and each input channel has one output channel;
// groups == in_channels is taken for granted.
bool IsNarrow(const Tiles& tiles, const ConvShape& shape);

// As Convolve, with `weights` as [out_channels, kernel_height * kernel_width].
void RunNarrow(const Tiles& tiles, const ConvShape& shape, const float* weights, const float* x,
               const float* bias, float* y, ThreadPool& pool);

}  // namespace octavo::reference::internal
