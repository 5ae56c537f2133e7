// SPDX-License-Identifier: Apache-2.0
// Readers of other tools' profiles, each for text that `profile::Parse` found to be of its form.
// They read ranges; histograms of other tools have other bins and are checked, but not kept.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/profile/profile.h"

namespace octavo::profile {

inline constexpr size_t kMaxEntries = size_t{1} << 20;

// Adds a range; kInvalidArgument, beginning with `place`, if it is invalid, a duplicate or one too
// many.
Status AddRange(std::string_view place, std::string name, float min, float max, Profile& profile);

bool LooksLikeTensorRt(std::string_view text);
Result<Profile> ReadTensorRt(std::string_view text);

bool LooksLikeOnnxRuntime(const nlohmann::json& object);
Result<Profile> ReadOnnxRuntime(const nlohmann::json& object);

bool LooksLikeGlow(std::string_view text);
Result<Profile> ReadGlow(std::string_view text);

}  // namespace octavo::profile
