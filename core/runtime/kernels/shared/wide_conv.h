// SPDX-License-Identifier: Apache-2.0
// The integer definition of Conv and ConvTranspose for storage of up to 16 bits and at most three
// spatial axes.
#pragma once

#include "core/float_exec/conv_shape.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

inline constexpr size_t kMaxConvAxes = 3;

Prepared DefineConv(const NodeView& view, const float_exec::ConvAxes& sizes, double operations);
Prepared DefineConvTranspose(const NodeView& view, const float_exec::ConvAxes& sizes,
                             double operations);

}  // namespace octavo::runtime
