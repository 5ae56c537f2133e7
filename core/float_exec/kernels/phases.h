// SPDX-License-Identifier: Apache-2.0
// Runs a transposed convolution.  Part of Convolve.
#pragma once

#include "core/float_exec/kernels/conv.h"

namespace octavo::float_exec::internal {

void RunPhases(const PackedConv& conv, const float* x, const float* bias, float* y,
               ThreadPool& pool);

}  // namespace octavo::float_exec::internal
