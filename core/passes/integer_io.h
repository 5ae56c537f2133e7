// The laws of --integer-io: what the caller hands over and gets back are codes.  Each keeps every
// bit of the values inside; what changes is the graph's interface, and a warning says to what.
#pragma once

#include <string_view>

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kIntegerInput = {
    "integer-input", "Quantize(input) : t -> input : t", Effect::kExact,
    "--integer-io; every reader is a Quantize to the same per-tensor t; not an output too"};
inline constexpr Rule kIntegerOutput = {
    "integer-output", "Dequantize(y.q : t) before an output -> the output y : t", Effect::kExact,
    "--integer-io; a node computes y.q, per-tensor and not itself an output"};

// The code of the warning that an input or output stays float.
inline constexpr std::string_view kFloatInterface = "float_interface";

// Applies both wherever they hold.  An input or output that stays float is kept with the reason,
// and said in a warning.
void MakeInterfaceInteger(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
