// SPDX-License-Identifier: Apache-2.0
// Finds positions of least cost.  Sites that can move fall into parts that do not touch; each part
// is solved by the first method that is exact on it:
//
//   min-cut      where no stage can be skipped: the cost is then a sum over stages, each a binary
//                choice (is the end past it?), for any number of labels
//   elimination  dynamic programming over sites and values, where few of them meet at a time:
//                trees, series-parallel regions and others of small width
//   search       branch and bound, where the sites are few
//   local        otherwise, heuristic: the better of the present positions and the cut's answer,
//                improved site by site
//
// Ties go to fewer Rescales, then to fewer moves.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/passes/placement/problem.h"

namespace octavo::passes::placement {

// Solvers also get sites that cannot move; these stay at their only position.  Exact if no value
// has shortcuts; otherwise a heuristic.
Positions SolveByMinCut(const Problem& problem);
// Exact; nothing if a table would have more than `max_table` entries.
std::optional<Positions> SolveByElimination(const Problem& problem, int64_t max_table = 1 << 16);
// Exact; nothing after `max_steps` choices.  `start` is a solution to improve.
std::optional<Positions> SolveBySearch(const Problem& problem, const Positions& start,
                                       int64_t max_steps = 1 << 17);
// Improves `start` by moving one site at a time, or all sites by one, while that is cheaper.
Positions Improve(const Problem& problem, Positions start);

enum class Method { kMinCut, kElimination, kSearch, kLocal };
std::string_view Name(Method method);
inline bool IsExact(Method method) { return method != Method::kLocal; }

struct Part {
  std::vector<int> sites = {};  // of the whole problem
  Method method = Method::kMinCut;
};

struct Solution {
  Positions positions = {};
  std::vector<Part> parts = {};
};

Solution Solve(const Problem& problem);

}  // namespace octavo::passes::placement
