// What a node that limits or chooses its operand (Relu, Clip; Max, Min) does to codes: proofs by
// enumeration.
#pragma once

#include <optional>

#include "core/ir/graph.h"
#include "core/ir/numerics.h"

namespace octavo::passes {

// Whether the result is, element by element, the least or greatest of the data operands and of
// constant bounds, so that it commutes with every monotone rounding: Relu, Clip, Max, Min.
bool Chooses(const ir::Node& node);

// The least and the greatest real that come out of a clamp; infinite without a bound.  Nothing
// where a bound is computed.
struct Ends {
  float low = 0, high = 0;
};
std::optional<Ends> ClampEnds(const ir::Graph& graph, const ir::Node& node);

// Of a clamp (OpDef::clamps) with constant bounds and the codes of `type` that occur (in the
// operand).  False where they cannot be enumerated: per-channel, more than 16 bits, computed
// bounds.
//
// Each code's real, clamped and rounded into the type again as the mode does, is the code: of all
// codes of the dtype, since the type may be the result's own.
bool ClampKeepsCodes(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                     ir::Numerics mode);
// Each code's real is left as it is, bit for bit.
bool ClampKeepsReals(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                     ir::Numerics mode);
// Each code's real, clamped, is a real that the type has a code for.
bool ClampGivesCodes(const ir::Graph& graph, const ir::Node& node, const ir::Type& type,
                     ir::Numerics mode);

}  // namespace octavo::passes
