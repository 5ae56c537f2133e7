// SPDX-License-Identifier: Apache-2.0
// Proofs by enumeration: compares the results of chains of Rescales for all possible values of an
// 8- or 16-bit type.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "core/ir/type.h"
#include "core/numerics/mode.h"

namespace octavo::passes {

// A chain of Rescales, as the list of types from the first operand to the last result.
using RescaleChain = std::initializer_list<const ir::Type*>;

// Whether two chains with the same first and the same last type have equal results in the mode for
// all possible values of the first type.  A chain of one type is the identity.  False if the values
// cannot be enumerated (more than 16 bits, different axes) or the mode does not define a Rescale.
bool SameResults(RescaleChain one, RescaleChain other, const numerics::Mode& mode);

// Whether a Rescale between the types maps distinct possible values to distinct results.
bool IsInjective(const ir::Type& from, const ir::Type& to, const numerics::Mode& mode);

// The dequantized results of a chain for all possible values of its first type, in ascending order
// of these.  Nothing where they cannot be enumerated, or where a type is per-channel.
std::optional<std::vector<float>> RealResults(RescaleChain chain, const numerics::Mode& mode);

}  // namespace octavo::passes
