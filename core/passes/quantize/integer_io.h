// SPDX-License-Identifier: Apache-2.0
// --integer-io: graph inputs and outputs become quantized values.  Values inside the graph keep
// every bit; a warning states the new type of each input and output.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kIntegerInput = {
    .id = "move-quantize/integer-input",
    .pattern = "Quantize(input) : t",
    .replacement = "input : t",
    .effect = Effect::kExact,
    .condition =
        "--integer-io; every consumer is a Quantize to the same per-tensor t; the input is not "
        "also an output",
};
inline constexpr Rule kIntegerOutput = {
    .id = "move-quantize/integer-output",
    .pattern = "output y = Dequantize(y.q : t)",
    .replacement = "output y : t",
    .effect = Effect::kExact,
    .condition = "--integer-io; y.q is computed by a node, per-tensor and not itself an output",
};

// The code of the warning that an input or output stays float.
inline constexpr ir::WarningCode kFloatInterface = "float_interface";

// Applies both rules wherever possible.  If an input or output stays float, records the reason and
// reports it in a warning.
void MakeInterfaceInteger(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
