// SPDX-License-Identifier: Apache-2.0
// Conditions of kernels that move stored integers unchanged.
#pragma once

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Whether inputs and results have identical quantization parameters.
bool KeepsQuantization(const NodeView& view);
// The value with which a Pad fills, quantized to the result's type; the operand, if any, is
// constant.
ir::Tensor QuantizedPadValue(const NodeView& view);

}  // namespace octavo::runtime
