// SPDX-License-Identifier: Apache-2.0
// Effects of Relu, Clip, Max and Min on quantized values, proven by enumeration.
#pragma once

#include <optional>

#include "core/ir/graph.h"
#include "core/numerics/mode.h"

namespace octavo::passes {

// Whether each element of the result is the minimum or maximum of the data operands' elements and
// of constant bounds, so that the op commutes with every monotone rounding: Relu, Clip, Max, Min.
bool SelectsOperand(const ir::Node& node);

// The bounds of a clamp; an absent bound is infinite.  nullopt if a bound is not constant.
struct Ends {
  float low = 0, high = 0;
};
std::optional<Ends> ClampEnds(const ir::Graph& graph, const ir::Node& node);

// The next three functions prove a property of a clamp (OpDef::clamps) for the possible values of
// its operand's type `type`.  They return false if values cannot be enumerated: for per-channel
// types, more than 16 bits, or bounds that are not constant.
//
// Every value stays the same if it is clamped and then quantized to the type again in the mode.
// Checks all values of the dtype and ignores a proven range, because `type` may be the result's own
// type.
bool ClampIsIdentity(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                     const numerics::Mode& mode);
// The clamp leaves every dequantized value unchanged, bit for bit.
bool ClampKeepsRealValues(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                          const numerics::Mode& mode);
// The type represents every clamped dequantized value exactly.
bool ClampIsRepresentable(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                          const numerics::Mode& mode);

}  // namespace octavo::passes
