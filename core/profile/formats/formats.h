// SPDX-License-Identifier: Apache-2.0
// Readers of other tools' profiles.  `profile::Parse` selects the reader by the text's form.  They
// return ranges only: histograms of other tools have other bins, so the readers check and drop
// them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/profile/profile.h"

namespace octavo::profile {

inline constexpr size_t kMaxEntries = size_t{1} << 20;

// Adds a range.  kInvalidArgument, with a message that begins with `place`, if it is not a range,
// if the name occurs twice, or if the profile exceeds kMaxEntries.
Status AddRange(std::string_view place, std::string name, float min, float max, Profile& profile);

bool LooksLikeTensorRt(std::string_view text);
Result<Profile> ReadTensorRt(std::string_view text);

bool LooksLikeOnnxRuntime(const nlohmann::json& object);
Result<Profile> ReadOnnxRuntime(const nlohmann::json& object);

bool LooksLikeGlow(std::string_view text);
Result<Profile> ReadGlow(std::string_view text);

}  // namespace octavo::profile
