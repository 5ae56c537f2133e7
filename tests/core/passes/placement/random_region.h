// SPDX-License-Identifier: Apache-2.0
// Small random regions, and the best result of single moves in any order.
#pragma once

#include <random>
#include <set>
#include <tuple>

#include "core/passes/placement/region.h"

namespace octavo::passes::placement {

// Randomly drawn tables of allowed moves.
struct RandomMoves {
  std::set<std::tuple<int, int, int>> sink = {}, hoist = {}, fold_into_consumer = {},
                                      fold_into_producer = {}, merge = {};

  AllowedMoves AsAllowedMoves() const {
    const auto in = [](const auto& set) {
      return [&set](int a, int b, int c) { return set.contains({a, b, c}); };
    };
    return {in(sink), in(hoist), in(fold_into_consumer), in(fold_into_producer), in(merge)};
  }
};

struct RandomRegion {
  Region region = {};
  RandomMoves allowed = {};
};

// Makes a region of at most `movers` same-scale ops, with two or three labels.
RandomRegion MakeRandomRegion(std::mt19937& random, int movers);

// The least (elements, rescales) over every state that single moves reach.  A move takes a Rescale
// past an op or folds it into a producer or consumer; each state permits any merges.  Tries them
// all.
Cost BestOfAllStates(const Region& region, const RandomMoves& allowed);

}  // namespace octavo::passes::placement
