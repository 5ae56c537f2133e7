// SPDX-License-Identifier: Apache-2.0
// Finds positions of least cost.  The sites that can move form independent parts; each part is
// solved by the first method that is exact for it:
//
//   min-cut      if no stage can be skipped: the cost is then a sum over stages, each with a binary
//                choice (is the end past it?), for any number of labels
//   elimination  dynamic programming over sites and values, if few of them interact at a time:
//                trees, series-parallel regions and others of small width
//   search       branch and bound, if there are few sites
//   local        otherwise, heuristic: the better of the current positions and the minimum cut,
//                improved site by site
//
// Among placements of equal cost, prefers fewer Rescales, then fewer moves.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/passes/placement/problem.h"

namespace octavo::passes::placement {

// The solvers also get sites that cannot move; these keep their only position.  This solver is
// exact if no value has shortcuts; otherwise it finds a good solution.
Positions SolveByMinCut(const Problem& problem);
// Exact; nullopt if a table would have more than `max_table` entries.
std::optional<Positions> SolveByElimination(const Problem& problem, int64_t max_table = 1 << 16);
// Exact; nullopt after `max_steps` choices.  `start` is a solution to improve on.
std::optional<Positions> SolveBySearch(const Problem& problem, const Positions& start,
                                       int64_t max_steps = 1 << 17);
// Starts at `start` and moves one site at a time, or all sites by one, while that lowers the cost.
Positions Improve(const Problem& problem, Positions start);

enum class Method { kMinCut, kElimination, kSearch, kLocal };
std::string_view Name(Method method);
inline bool IsExact(Method method) { return method != Method::kLocal; }

struct Part {
  std::vector<int> sites = {};  // indices in the whole problem
  Method method = Method::kMinCut;
};

struct Solution {
  Positions positions = {};
  std::vector<Part> parts = {};
};

Solution Solve(const Problem& problem);

}  // namespace octavo::passes::placement
