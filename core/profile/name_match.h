// SPDX-License-Identifier: Apache-2.0
// Matches Glow's names of node outputs with values.  Glow replaces characters other than letters,
// digits and '_' by '_', may add "__N", and appends the result's number.
#pragma once

#include <set>

#include "core/ir/graph.h"
#include "core/profile/profile.h"

namespace octavo::profile {

// The names of a model at import, before rewrites remove nodes.
class NameIndex {
 public:
  explicit NameIndex(const ir::Graph& graph);

  // The entries by the model's own value names.  An entry that matches no value, two values, or the
  // value of another entry is listed.
  struct Matched {
    Profile profile = {};
    std::vector<std::string> unmatched = {};
  };
  Matched Match(const Profile& profile) const;

 private:
  using Names = std::map<std::string, std::set<std::string>, std::less<>>;
  Names values_, outputs_, legal_values_;  // to value names

  struct Found {
    int rule = 0;  // the lower, the more certain
    std::string value = {};
  };
  std::optional<Found> Find(std::string_view name) const;
};

}  // namespace octavo::profile
