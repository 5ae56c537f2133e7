// SPDX-License-Identifier: Apache-2.0
// Compares a graph with the one that a step makes of it.  Every value that both have under one name
// and of one type must be equal; where two such values are not proved to be, the rest is compared
// as if they were, so that a difference is reported once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/verify/term.h"

namespace octavo::verify {

using Names = std::set<std::string, std::less<>>;

// The names of values that a step rewrites, joined to regions: two of them are in one region if one
// is computed from the other.
class Regions {
 public:
  Regions(const ir::Graph& before, const ir::Graph& after);

  int count() const { return count_; }
  // -1: not rewritten.
  int RegionOf(std::string_view value) const;
  // Of a value or a node of either graph.
  int RegionOfName(std::string_view name) const;
  // Of each region, a value with quantization parameters that no value had before; empty if there
  // is none.
  std::vector<std::string> NewParameters() const;

 private:
  int Root(int index) const;
  void Join(int a, int b) { parents_[Root(a)] = Root(b); }
  void JoinOperands(const ir::Graph& graph);

  const ir::Graph &before_, &after_;
  std::map<std::string, int, std::less<>> changed_;  // index into parents_
  mutable std::vector<int> parents_;
  std::vector<int> regions_;  // of each index
  int count_ = 0;
};

// The values of both graphs that a level compares, by name.
struct Compared {
  Names equal = {};
  Names unproved = {};
  Names refuted = {};  // of the unproved ones
};
Compared Compare(const ir::Graph& before, const ir::Graph& after, Level level, Mode mode);

// That inputs and outputs keep names and shapes.
Status CheckInterface(const ir::Graph& before, const ir::Graph& after);

}  // namespace octavo::verify
