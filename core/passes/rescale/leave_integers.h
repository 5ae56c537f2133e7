// SPDX-License-Identifier: Apache-2.0
// --leave-integers: removes Quantize and Dequantize around a value that is used in float only.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// Applies absorb-rescales/cancel-quantize-dequantize wherever it holds.  The option asks for this
// one effect by name, so the default limit does not forbid it; the limit `exact`, which no job has
// by default, does, and then the reason is recorded.
Status LeaveIntegers(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
