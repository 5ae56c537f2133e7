// SPDX-License-Identifier: Apache-2.0
// Half-precision floats (f16, bf16), which definitions of ops do not handle.  A node with such an
// operand or result is computed on widened operands, in f32 (f64 if another operand is f64), and
// its results are rounded once.
#pragma once

#include "core/ir/op_def.h"

namespace octavo::float_exec {

// The nearest half-precision float, ties to even; beyond the range infinity.
uint16_t ToF16(double value);
uint16_t ToBF16(double value);

// The op's definition, for operands of any width.
Status RunDefinition(const ir::EvalContext& context);

}  // namespace octavo::float_exec
