// SPDX-License-Identifier: Apache-2.0
// How far a value may move under rules that drop roundings, from how far its operands moved:
//   gain * distance(operands) + half a step for every rounding on either side
// The gain is the op's Lipschitz constant in that operand.  A value that moves further has lost
// more than roundings: a clamp, a parameter, an element.
#pragma once

#include "tests/core/properties/run_values.h"

namespace octavo::test {

// Where a Rescale moves past data movement, the name of what is moved may come to stand on its
// other side, on values of another type.  Such values are compared where they are read.
enum class Movement { kGivesTheSame, kMayStandBeyondARescale };

// Holds every value that both graphs carry under one name against its bound; values whose
// computations cannot be matched fail as well.
Status CheckBounds(const ir::Graph& before, const RunValues& was, const ir::Graph& after,
                   const RunValues& is, Movement movement);

// Equal bits of every value that both graphs have under one name and with one type, and of the
// real values of graph outputs.
Status CheckEqualBits(const ir::Graph& before, const RunValues& was, const ir::Graph& after,
                      const RunValues& is, Movement movement);

}  // namespace octavo::test
