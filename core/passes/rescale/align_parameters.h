// SPDX-License-Identifier: Apache-2.0
// Chooses shared parameters for the values on both sides of a Rescale and for all values in their
// groups (same_type_groups.h); the Rescale then becomes an identity.
#pragma once

#include "core/passes/pass.h"

namespace octavo::passes {

inline constexpr Rule kUnifyParameters = {
    .id = "place-rescales/unify-parameters",
    .pattern = "Rescale(x : t1) : t2",
    .replacement = "x : t, for all values that must share either type",
    .effect = Effect::kNewParameters,
    .condition =
        "every producer can compute t and every consumer accepts it; by the profile's histograms "
        "the noise of all consumers together does not rise, and none of them gets more than twice "
        "its own; a bias that is already rounded gets a coarser scale only up to a sixteenth of "
        "its result's step",
};
inline constexpr Rule kUnifyParametersWithoutProfile = {
    .id = "place-rescales/unify-parameters-without-profile",
    .pattern = "Rescale(x : t1) : t2",
    .replacement = "x : t, for all values that must share either type",
    .effect = Effect::kNewParameters,
    .condition =
        "as unify-parameters, without a profile and with no weight pending: each value is assumed "
        "uniform over its type, or over its proven range",
};

// Applies both rules until neither matches, with kAbsorbRules after each round, and records the
// reason for each Rescale that stays.  Returns whether a rule was applied.
Result<bool> AlignParameters(ir::Graph& graph, Context& context);

}  // namespace octavo::passes
