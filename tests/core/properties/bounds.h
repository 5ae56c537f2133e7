// SPDX-License-Identifier: Apache-2.0
// Bounds the distance that rules which drop roundings may move a value, from the distances of its
// operands:
//   gain * distance(operands) + half a step for every rounding on either side
// The gain is the op's Lipschitz constant in that operand.  A value that moves further has lost
// more than roundings: a clamp, a parameter, an element.
#pragma once

#include "tests/core/properties/run_values.h"

namespace octavo::test {

// If a Rescale moves past data movement, the name of the moved value may end up on the other side
// of the Rescale, on values of another type.  Such values are compared at their consumers.
enum class Movement { kGivesTheSame, kMayStandBeyondARescale };

// Compares every value that both graphs have under one name with its bound.  Values whose
// computations cannot be matched fail, too.
Status CheckBounds(const ir::Graph& before, const RunValues& was, const ir::Graph& after,
                   const RunValues& is, Movement movement);

// Checks equal bits of every value that both graphs have under one name and with one type, and
// equal real values of graph outputs.
Status CheckEqualBits(const ir::Graph& before, const RunValues& was, const ir::Graph& after,
                      const RunValues& is, Movement movement);

}  // namespace octavo::test
