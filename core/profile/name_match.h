// SPDX-License-Identifier: Apache-2.0
// Finds the values that Glow's names of node outputs mean.  Glow replaces what is no letter, digit
// or '_' by '_', may add "__N", and appends the result's number.
#pragma once

#include <set>

#include "core/ir/graph.h"
#include "core/profile/profile.h"

namespace octavo::profile {

// The names of a model as imported, before rewrites take nodes away.
class NameIndex {
 public:
  explicit NameIndex(const ir::Graph& graph);

  // The entries by the model's own value names.  An entry that means no value, or two, or the value
  // that another one means as well, is listed.
  struct Matched {
    Profile profile = {};
    std::vector<std::string> unmatched = {};
  };
  Matched Match(const Profile& profile) const;

 private:
  using Names = std::map<std::string, std::set<std::string>, std::less<>>;
  Names values_, outputs_, legal_values_;  // to value names

  struct Found {
    int rule = 0;  // the lower, the surer
    std::string value = {};
  };
  std::optional<Found> Find(std::string_view name) const;
};

}  // namespace octavo::profile
