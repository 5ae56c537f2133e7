// SPDX-License-Identifier: Apache-2.0
// Wrong rewrites of the kinds that optimizers make.
#pragma once

#include <array>
#include <string_view>

#include "core/ir/graph.h"
#include "tests/core/properties/dice.h"

namespace octavo::test {

// Changes one place of the graph, which stays valid; false if it has no such place.
struct Lie {
  std::string_view name = {};
  bool (*tell)(ir::Graph& graph, Dice& dice) = nullptr;
};

// A scale off by one ulp, swapped operands, a dropped clamp, a wrong axis, an altered constant.
extern const std::array<Lie, 5> kLies;

}  // namespace octavo::test
