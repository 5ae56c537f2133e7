// SPDX-License-Identifier: Apache-2.0
#include "core/profile/holdout.h"

#include <fmt/format.h>

#include <charconv>

namespace octavo::profile {

int64_t HoldoutEvery(const Holdout& holdout, int64_t samples) {
  switch (holdout.kind) {
    case Holdout::Kind::kNone:
      return 0;
    case Holdout::Kind::kAuto:
      return samples >= kAutoHoldoutLeast ? kAutoHoldoutEvery : 0;
    case Holdout::Kind::kEvery:
      return samples >= holdout.every ? holdout.every : 0;
  }
  return 0;
}

std::string Name(const Holdout& holdout) {
  switch (holdout.kind) {
    case Holdout::Kind::kAuto:
      return "auto";
    case Holdout::Kind::kNone:
      return "none";
    case Holdout::Kind::kEvery:
      return fmt::format("{}", holdout.every);
  }
  return "";
}

std::optional<Holdout> ParseHoldout(std::string_view text) {
  if (text == "auto") return Holdout{};
  if (text == "none") return Holdout{.kind = Holdout::Kind::kNone};
  const char* end = text.data() + text.size();
  int64_t every = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, every);
  if (error != std::errc() || rest != end || every < 2) return std::nullopt;
  return Holdout{.kind = Holdout::Kind::kEvery, .every = every};
}

}  // namespace octavo::profile
