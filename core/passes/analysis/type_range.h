// SPDX-License-Identifier: Apache-2.0
// The possible values of a quantized type, and whether the range of one type lies within another's:
// the condition of most rules for Rescales.
#pragma once

#include "core/ir/type.h"
#include "core/numerics/mode.h"
#include "core/passes/ledger.h"

namespace octavo::passes {

// The stored integers that a channel can contain: all of the dtype, or fewer where the type has a
// proven range: its ends quantized in the mode, and one step further where the mode's
// requantization may be more than half a step off.
ir::IntegerRange PossibleValues(const ir::Type& type, int64_t channel, const numerics::Mode& mode);

// range(inner) within range(outer): whether every possible value of `inner`, rescaled to `outer` in
// the mode, lies within outer's dtype before it is clamped.  Compares rounded integers, never real
// values, so that the last bit of a scale does not matter.  Both must be quantized; per-channel
// types are compared channel by channel (with a per-tensor type: each against the one).
bool RangeInside(const ir::Type& inner, const ir::Type& outer,
                 const numerics::Mode& mode = numerics::kOnnx);

// The same for the intersection of range(a) and range(b), where a chain of Rescales ends with `b`:
// on each side it is enough that one of them lies within, since `b` clamps what exceeds it.
bool IntersectionInside(const ir::Type& a, const ir::Type& b, const ir::Type& outer,
                        const numerics::Mode& mode = numerics::kOnnx);

// The effect of dropping a rounding to `omitted` between values of range(kept).
Effect EffectOfOmitting(const ir::Type& kept, const ir::Type& omitted,
                        const numerics::Mode& mode = numerics::kOnnx);

}  // namespace octavo::passes
