// The integer definition of Conv and ConvTranspose for any storage up to 16 bits.
#pragma once

#include "core/reference/conv_shape.h"
#include "core/runtime/kernel.h"

namespace octavo::runtime {

Prepared DefineConv(const NodeView& view, const reference::ConvShape& shape, double operations);
Prepared DefineConvTranspose(const NodeView& view, const reference::ConvShape& shape,
                             double operations);

}  // namespace octavo::runtime
