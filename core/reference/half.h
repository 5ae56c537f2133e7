// Half-width floats (f16, bf16): definitions of ops do not know them.  A node that reads or gives
// them is computed on widened operands, in f32 (f64 beside an f64 operand), and its results are
// rounded once.
#pragma once

#include "core/ir/op_def.h"

namespace octavo::reference {

// The nearest half-width float, ties to even; beyond the range infinity.
uint16_t ToF16(double value);
uint16_t ToBF16(double value);

// The op's definition, whatever the widths of its operands.
Status RunDefinition(const ir::EvalContext& context);

}  // namespace octavo::reference
