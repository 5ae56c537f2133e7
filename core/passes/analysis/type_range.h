// SPDX-License-Identifier: Apache-2.0
// The possible values of a quantized type, and whether one type's range is within another's: the
// condition of most rules for Rescales.
#pragma once

#include "core/ir/type.h"
#include "core/numerics/mode.h"
#include "core/passes/ledger.h"

namespace octavo::passes {

// The stored integers that a channel can contain.  Without a proven range: all of the dtype.  With
// one: its bounds quantized in the mode, extended by one step each if the mode's requantization may
// have an error of more than half a step.
ir::IntegerRange PossibleValues(const ir::Type& type, int64_t channel, const numerics::Mode& mode);

// range(inner) within range(outer): whether every possible value of `inner`, rescaled to `outer` in
// the mode, is within outer's dtype before clamping.  Compares rounded integers, never real values,
// so that one ulp of a scale cannot decide.  Both types must be quantized; per-channel types are
// compared channel by channel (or each channel with a per-tensor type).
bool RangeInside(const ir::Type& inner, const ir::Type& outer,
                 const numerics::Mode& mode = numerics::kOnnx);

// The same for the intersection of range(a) and range(b), for a chain of Rescales that ends with
// `b`: on each side, one of them within outer's dtype is enough, because `b` clamps larger values.
bool IntersectionInside(const ir::Type& a, const ir::Type& b, const ir::Type& outer,
                        const numerics::Mode& mode = numerics::kOnnx);

// The numeric effect of dropping a rounding to `omitted` between values of range(kept).
Effect EffectOfOmitting(const ir::Type& kept, const ir::Type& omitted,
                        const numerics::Mode& mode = numerics::kOnnx);

}  // namespace octavo::passes
