// SPDX-License-Identifier: Apache-2.0
// The range of an operand outside of which the op's result is constant (HardSigmoid), for those who
// choose the operand's type and those who judge it.
#pragma once

#include <optional>

#include "core/ir/graph.h"

namespace octavo::ops {

// The range of the node's first operand.  A type's ends differ from a range's by up to half a step,
// so the range is extended on both sides by slightly more than one step of 8 bits: a type of the
// range reaches both constant parts.  nullopt for an op without constant parts on both sides.
std::optional<ir::Range> UsefulRange(const ir::Node& node);

}  // namespace octavo::ops
