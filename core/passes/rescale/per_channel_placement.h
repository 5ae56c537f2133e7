// SPDX-License-Identifier: Apache-2.0
// Moves Rescales from or to a per-channel type past data movement, one op at a time; each op's own
// axis rule (core/ops/shared/axis_rule.h) tracks the axis.  The joint placement of place-rescales
// does not move them, because its labels are per-tensor.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kSinkPerChannel = {
    .id = "place-rescales/sink-per-channel",
    .pattern = "Move(Rescale(x), ..)",
    .replacement = "Rescale(Move(x, ..))",
    .effect = Effect::kExact,
    .condition =
        "the Rescale converts from or to a per-channel type, which the axis rule maps through "
        "Move; the Rescales have one consumer; fewer elements are converted, or every consumer can "
        "fold it",
};
inline constexpr Rule kHoistPerChannel = {
    .id = "place-rescales/hoist-per-channel",
    .pattern = "Rescale(Move(x))",
    .replacement = "Move(Rescale(x))",
    .effect = Effect::kExact,
    .condition =
        "the Rescale converts from or to a per-channel type, which the axis rule maps to an axis "
        "of x; Move has one consumer; fewer elements are converted, or the producer of x can fold "
        "it",
};

// Moves such Rescales if fewer elements are then converted or a neighbour can fold them; then folds
// them.
Status MoveChannelRescales(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
