// SPDX-License-Identifier: Apache-2.0
// Half-precision floats (f16, bf16), which the ops' definitions do not support.  A node with such
// an operand or result computes on widened operands, in f32 (f64 if another operand is f64), and
// rounds its results once.
#pragma once

#include "core/ir/op_def.h"

namespace octavo::float_exec {

// Rounds to the nearest half-precision float, ties to even; values beyond the range become
// infinity.
uint16_t ToF16(double value);
uint16_t ToBF16(double value);

// Runs the op's definition on operands of any width.
Status RunDefinition(const ir::EvalContext& context);

}  // namespace octavo::float_exec
