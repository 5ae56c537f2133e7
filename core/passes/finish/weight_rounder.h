// SPDX-License-Identifier: Apache-2.0
// Rounds one weight of the pass round-weights, which one or more layers share, and corrects their
// biases.
#pragma once

#include <vector>

#include "core/passes/pass.h"
#include "core/profile/moments.h"

namespace octavo::passes {

inline constexpr Rule kDescent = {
    .id = "round-weights/descent",
    .pattern = "Op(x, Quantize(w))",
    .replacement = "Op(x, w')",
    .effect = Effect::kNewParameters,
    .condition =
        "the job itself, so no limit applies: --rounding is descent, the layer's moments are "
        "known, "
        "and w' gives results closer to the float ones; every w' is at most 2 steps from w",
};
inline constexpr Rule kBias = {
    .id = "round-weights/bias",
    .pattern = "Op(x, Quantize(w), b)",
    .replacement = "Op(x, Quantize(w), b')",
    .effect = Effect::kNewParameters,
    .condition =
        "the job itself, so no limit applies: --rounding is bias or descent, the layer's moments "
        "are "
        "known; b' = b + the mean of (w - real value of Quantize(w)) x, which a layer without a "
        "bias "
        "gets, too",
};
// The layers that share a weight.
struct SharedWeight {
  ir::ValueId value = {};
  std::vector<profile::Layer> layers = {};
};

// Applies the rules to the weight, a pending Quantize, by the moments of all its layers together.
// The layers have the same columns.
Status RoundWeight(ir::Graph& graph, Context& context, const SharedWeight& weight,
                   const profile::LayerMoments& moments, Rounding rounding);

}  // namespace octavo::passes
