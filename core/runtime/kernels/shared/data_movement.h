// SPDX-License-Identifier: Apache-2.0
// Conditions of kernels that move stored integers unchanged.
#pragma once

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Whether inputs and results have identical quantization parameters.
bool KeepsQuantization(const NodeView& view);
// The fill value of a Pad, quantized to the result's type.  Its operand, if any, must be constant.
ir::Tensor QuantizedPadValue(const NodeView& view);

}  // namespace octavo::runtime
