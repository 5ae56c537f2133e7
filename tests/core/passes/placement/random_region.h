// SPDX-License-Identifier: Apache-2.0
// Small random regions, and the best that any order of single moves makes of them.
#pragma once

#include <random>
#include <set>
#include <tuple>

#include "core/passes/placement/region.h"

namespace octavo::passes::placement {

// Allowed moves as tables, drawn at random.
struct RandomMoves {
  std::set<std::tuple<int, int, int>> sink = {}, raise = {}, read = {}, give = {}, merge = {};

  AllowedMoves AsAllowedMoves() const {
    const auto in = [](const auto& set) {
      return [&set](int a, int b, int c) { return set.contains({a, b, c}); };
    };
    return {in(sink), in(raise), in(read), in(give), in(merge)};
  }
};

struct RandomRegion {
  Region region = {};
  RandomMoves allowed = {};
};

// At most `movers` same-scale ops, with two or three labels.
RandomRegion MakeRandomRegion(std::mt19937& random, int movers);

// The least (elements, rescales) over every state that single moves reach: a Rescale past an op, a
// Rescale taken by an end, and in each state any merges.  By trying them all.
Cost BestOfAllStates(const Region& region, const RandomMoves& allowed);

}  // namespace octavo::passes::placement
