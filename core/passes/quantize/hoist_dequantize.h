// SPDX-License-Identifier: Apache-2.0
// A Dequantize of repeated elements goes above the data movement that repeats them.
#pragma once

#include <map>

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kHoistDequantize = {
    .id = "move-quantize/hoist-dequantize",
    .pattern = "Dequantize(Move(x))",
    .replacement = "Move(Dequantize(x))",
    .effect = Effect::kExact,
    .condition =
        "Move(x) has one consumer and at least twice the elements of x; the result has a consumer "
        "other than Quantize, and none that only compares elements (ArgMax, Less); the target is "
        "not fully quantized",
};

// Dequantized values that the rule has made, by what they dequantize: movements share them.
using HoistedValues = std::map<ir::ValueId, ir::ValueId>;

// Applies the rule to the node; whether it did.
bool HoistDequantize(ir::Graph& graph, ir::NodeId id, HoistedValues& hoisted, Context& context);

}  // namespace octavo::passes
