// SPDX-License-Identifier: Apache-2.0
// Which samples evaluate instead of calibrating.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace octavo::profile {

// Every `every`-th sample evaluates: the one at index i if i % every == every - 1.
struct Holdout {
  enum class Kind { kAuto, kNone, kEvery };
  Kind kind = Kind::kAuto;
  int64_t every = 0;  // for kEvery, at least 2

  bool operator==(const Holdout&) const = default;
};

// kAuto holds every fourth sample back if there are at least this many.
inline constexpr int64_t kAutoHoldoutLeast = 8;
inline constexpr int64_t kAutoHoldoutEvery = 4;

// The stride for that many samples; 0: all samples calibrate, and evaluate too.  kEvery of more
// than there are samples holds none back.
int64_t HoldoutEvery(const Holdout& holdout, int64_t samples);

// "auto", "none" or the number.
std::string Name(const Holdout& holdout);
std::optional<Holdout> ParseHoldout(std::string_view text);
inline constexpr std::string_view kHoldoutMustBe = "auto, none or a whole number of at least 2";

}  // namespace octavo::profile
