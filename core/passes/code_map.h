// Proofs by enumeration: what chains of Rescales make of every code that can occur.  A type of 8
// or 16 bits has few enough codes to look at all of them.
#pragma once

#include <initializer_list>

#include "core/ir/numerics.h"
#include "core/ir/type.h"

namespace octavo::passes {

// A chain of Rescales: the types from the first operand's to the last result's.
using RescaleChain = std::initializer_list<const ir::Type*>;

// Whether two chains that begin with one type and end with one type give equal codes for every
// code that occurs in the first, in the mode.  A chain of one type changes nothing.  False where
// it cannot be enumerated (more than 16 bits, other axes) or the mode does not define a Rescale.
bool SameCodesBy(RescaleChain one, RescaleChain other, ir::Numerics mode);

// Whether a Rescale between the types gives different codes for different codes.
bool IsInjective(const ir::Type& from, const ir::Type& to, ir::Numerics mode);

}  // namespace octavo::passes
