// Parameters chosen jointly for values that a Concat, or an op that a target wants of one type,
// ties together: a Rescale between them then has nothing to do.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

extern const Rule kAlignedRule;
extern const Rule kAlignedByTypesRule;

// Applies the law until it applies nowhere, and the laws of absorb.h after it.  Says of each
// Rescale that it could not serve why.  Returns whether it was applied.
Result<bool> AlignParameters(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
