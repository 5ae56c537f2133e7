// Runs a transposed convolution; part of Convolve.
#pragma once

#include "core/reference/kernels/conv.h"

namespace octavo::reference::internal {

void RunPhases(const PackedConv& conv, const float* x, const float* bias, float* y,
               ThreadPool& pool);

}  // namespace octavo::reference::internal
