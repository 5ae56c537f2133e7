// Which reals a quantized type can hold, and whether one type's reals fit into another: the
// condition of most Rescale laws.
#pragma once

#include "core/ir/type.h"
#include "core/passes/ledger.h"

namespace octavo::passes {

// Whether every real that `inner` holds, rounded into `outer` before its clamp, has a code there:
// range(inner) inside range(outer).  A proven range of `inner` counts.  Both quantized; a
// per-channel type is compared channel by channel (with per-tensor: each against the one).
bool RangeInside(const ir::Type& inner, const ir::Type& outer);

// The same for the reals that both `a` and `b` hold.
bool IntersectionInside(const ir::Type& a, const ir::Type& b, const ir::Type& outer);

// What omitting a rounding into `omitted` does when only reals of `kept` matter.
Effect EffectOfOmitting(const ir::Type& kept, const ir::Type& omitted);

}  // namespace octavo::passes
