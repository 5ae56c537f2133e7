// SPDX-License-Identifier: Apache-2.0
// Per-channel affine maps y[c] = scale[c] * x[c] + shift[c], from a BatchNormalization or from
// arithmetic with a constant; in double, so that folding them into weights rounds only once.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::passes {

struct ChannelAffine {
  std::vector<double> scale = {}, shift = {};
  bool scales = false, shifts = false;  // whether the scale or the shift is not trivial
  ir::ValueId shift_constant = {};      // the constant whose name the shift may keep, if any
};

// The map that the node applies to its input 0 along `axis`; nullopt if it is not such a map with
// constant parameters.
std::optional<ChannelAffine> ChannelAffineOf(const ir::Graph& graph, const ir::Node& node,
                                             size_t axis);

}  // namespace octavo::passes
