// Padding that a MaxPool can do itself.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kPadIntoPool = {
    "pad-into-pool", "MaxPool(Pad(x, v)) -> MaxPool(x) with pads", Effect::kExact,
    "constant v at or below the least float, spatial axes only, nobody else reads the Pad, no "
    "window wholly in the padding"};

// Applies the law to the MaxPool `id`.  Such a Pad would otherwise stretch its value's range to
// the least float and leave no codes for the rest.
bool PadIntoPool(ir::Graph& graph, ir::NodeId id, Context& context);

}  // namespace octavo::passes
