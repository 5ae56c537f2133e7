// SPDX-License-Identifier: Apache-2.0
// Folds a Pad into the pads of a MaxPool.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kFoldPadIntoMaxPool = {
    .id = "canonicalize/fold-pad-into-max-pool",
    .pattern = "MaxPool(Pad(x, v))",
    .replacement = "MaxPool{pads}(x)",
    .effect = Effect::kExact,
    .condition =
        "constant v at or below the lowest float; spatial axes only; the Pad has one consumer; no "
        "window lies wholly in padding",
};

// Applies the rule to the MaxPool `id`.  Without it, the Pad would extend the range of its value to
// the lowest float, which would leave no resolution for other values.
bool PadIntoPool(ir::Graph& graph, ir::NodeId id, Context& context);

}  // namespace octavo::passes
