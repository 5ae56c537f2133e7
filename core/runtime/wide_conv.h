// The integer definition of Conv and ConvTranspose for any storage up to 16 bits, along at most
// three spatial axes.
#pragma once

#include "core/reference/conv_shape.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

inline constexpr size_t kMostConvAxes = 3;

Prepared DefineConv(const NodeView& view, const reference::ConvAxes& sizes, double operations);
Prepared DefineConvTranspose(const NodeView& view, const reference::ConvAxes& sizes,
                             double operations);

}  // namespace octavo::runtime
