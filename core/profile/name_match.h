// SPDX-License-Identifier: Apache-2.0
// Maps Glow's names of node outputs to values.  Glow replaces every character except letters,
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

  // The entries under the model's own value names.  `unmatched` lists entries that match no value,
  // entries that match two values, and entries that match the same value as another entry.
  struct Matched {
    Profile profile = {};
    std::vector<std::string> unmatched = {};
  };
  Matched Match(const Profile& profile) const;

 private:
  using Names = std::map<std::string, std::set<std::string>, std::less<>>;
  Names values_, outputs_, legal_values_;  // map to value names

  struct Found {
    int rule = 0;  // a lower rule is more certain
    std::string value = {};
  };
  std::optional<Found> Find(std::string_view name) const;
};

}  // namespace octavo::profile
