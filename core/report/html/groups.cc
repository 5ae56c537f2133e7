// SPDX-License-Identifier: Apache-2.0
#include "core/report/html/groups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace octavo::report::html {

std::optional<double> ErrorShare(const v1::ValueNumerics& value) {
  return Optional(value.has_error_share(), value.error_share());
}

std::vector<Group> GroupsOf(const Values& values) {
  std::vector<Group> groups;
  std::map<int64_t, size_t> places;
  for (int i = 0; i < values.size(); ++i) {
    if (values[i].has_group()) {
      const auto [place, is_new] = places.emplace(values[i].group(), groups.size());
      if (!is_new) {
        groups[place->second].push_back(i);
        continue;
      }
    }
    groups.push_back({i});
  }
  constexpr double kLast = std::numeric_limits<double>::infinity();
  const auto key = [&](const Group& group) {
    const v1::ValueNumerics& value = values[group.front()];
    return std::tuple(-ErrorShare(value).value_or(-kLast), LocalSqnr(value).value_or(kLast),
                      Sqnr(value).value_or(kLast));
  };
  std::ranges::stable_sort(groups, {}, key);
  return groups;
}

}  // namespace octavo::report::html
