// SPDX-License-Identifier: Apache-2.0
// --leave-integers: removes Quantize and Dequantize around a value that is used only in float.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

// Applies absorb-rescales/cancel-quantize-dequantize wherever its condition holds.  The option
// requests this one numeric effect explicitly, so the default limit does not forbid it.  The limit
// `exact`, which is never the default, does; the reason is then recorded.
Status LeaveIntegers(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
