// What Quantize, Dequantize and Rescale share: seen through their types' reals they hand a value
// on; rounding is in the types of operand and result.
#pragma once

#include "core/ops/elementwise.h"

namespace octavo::ops {

// Expressed types: f32 in, f32 of the same shape out.
Status InferReals(ir::InferContext& context);
// Copies reals.
Status PassReals(const ir::EvalContext& context);

}  // namespace octavo::ops
