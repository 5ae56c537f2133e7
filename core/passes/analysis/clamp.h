// SPDX-License-Identifier: Apache-2.0
// The effect of Relu, Clip, Max and Min on quantized values, proved by enumeration.
#pragma once

#include <optional>

#include "core/ir/graph.h"
#include "core/numerics/mode.h"

namespace octavo::passes {

// Whether each element of the result is the minimum or maximum of the data operands' elements and
// of constant bounds, so that the op commutes with every monotone rounding: Relu, Clip, Max, Min.
bool SelectsOperand(const ir::Node& node);

// The bounds of a clamp; infinite without one.  Nothing if a bound is not constant.
struct Ends {
  float low = 0, high = 0;
};
std::optional<Ends> ClampEnds(const ir::Graph& graph, const ir::Node& node);

// The next three prove a property of a clamp (OpDef::clamps) for the possible values of `type`, its
// operand's type.  They return false where values cannot be enumerated: per-channel types, more
// than 16 bits, bounds that are not constant.
//
// Every value, clamped and quantized to the type again in the mode, is itself.  Looks at all values
// of the dtype, since the type may be the result's own.
bool ClampIsIdentity(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                     const numerics::Mode& mode);
// Every dequantized value is unchanged, bit for bit.
bool ClampKeepsRealValues(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                          const numerics::Mode& mode);
// Every dequantized value, once clamped, is one that the type represents exactly.
bool ClampIsRepresentable(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                          const numerics::Mode& mode);

}  // namespace octavo::passes
