// SPDX-License-Identifier: Apache-2.0
// The checks of a range that all readers share.
#include <cmath>

#include "core/profile/formats/formats.h"

namespace octavo::profile {

Status AddRange(std::string_view place, std::string name, float min, float max, Profile& profile) {
  const auto wrong = [&](std::string_view what) {
    return Fail(Code::kInvalidArgument, "profile: {}: '{}' {}", place, name, what)
        .Field(name)
        .Reason("INVALID_PROFILE");
  };
  if (name.empty()) return wrong("is not a name");
  if (!std::isfinite(min) || !std::isfinite(max) || min > max) {
    return wrong("needs a finite min and max, min not above max");
  }
  if (profile.values.size() >= kMaxEntries) return wrong("exceeds the maximum number of entries");
  if (profile.values.contains(name)) return wrong("is listed twice");
  profile.values.emplace(std::move(name), Entry{.min = min, .max = max});
  return {};
}

}  // namespace octavo::profile
