// Which codes a quantized type can hold, and whether one type's fit into another: the condition of
// most Rescale laws.
#pragma once

#include "core/ir/numerics.h"
#include "core/ir/type.h"
#include "core/passes/ledger.h"

namespace octavo::passes {

// The codes of a channel that occur: those of the dtype, or fewer where a range of the value is
// proven: its ends rounded to codes by Quantize of the mode, and one code further where the mode's
// requantization may be more than half a step off.
ir::CodeRange OccurringCodes(const ir::Type& type, int64_t channel, ir::Numerics mode);

// Whether every code of `inner`, rescaled into `outer` in the mode, lies within what outer's codes
// hold before it is clamped to them: range(inner) inside range(outer).  It is asked of the
// rounded codes, never of reals, so that an ulp of a scale decides nothing.  Both quantized; a
// per-channel type is compared channel by channel (with per-tensor: each against the one).
bool RangeInside(const ir::Type& inner, const ir::Type& outer,
                 ir::Numerics mode = ir::Numerics::kOnnx);

// The same for the reals of `a` that `b` can hold, where `b` is what a chain ends with: an end of
// one of them is enough, as what lies past b's end is clamped there.
bool IntersectionInside(const ir::Type& a, const ir::Type& b, const ir::Type& outer,
                        ir::Numerics mode = ir::Numerics::kOnnx);

// What omitting a rounding into `omitted` does when only reals of `kept` matter.
Effect EffectOfOmitting(const ir::Type& kept, const ir::Type& omitted,
                        ir::Numerics mode = ir::Numerics::kOnnx);

}  // namespace octavo::passes
