// SPDX-License-Identifier: Apache-2.0
#include "client/cli/validators.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/nearest_name.h"

namespace octavo::cli {
namespace {

template <class Number>
std::optional<Number> Parse(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

// The description stays empty, or CLI11 adds it to the flag's placeholder.
template <class Accepts>
CLI::Validator Must(Accepts accepts, std::string what) {
  return CLI::Validator(
      [accepts = std::move(accepts), what = std::move(what)](const std::string& text) {
        return accepts(text) ? std::string() : fmt::format("'{}' must be {}", text, what);
      },
      "");
}

}  // namespace

CLI::Validator WholeNumber(int64_t least, int64_t most) {
  const bool open = most == std::numeric_limits<int64_t>::max();
  return Must(
      [least, most](const std::string& text) {
        const auto number = Parse<int64_t>(text);
        return number && *number >= least && *number <= most;
      },
      open ? fmt::format("a whole number, at least {}", least)
           : fmt::format("a whole number from {} to {}", least, most));
}

CLI::Validator NumberFrom(double least, double most) {
  return Must(
      [least, most](const std::string& text) {
        const auto number = Parse<double>(text);
        return number && *number >= least && *number <= most;
      },
      fmt::format("a number from {} to {}", least, most));
}

CLI::Validator NumberAbove(double bound) {
  return Must(
      [bound](const std::string& text) {
        const auto number = Parse<double>(text);
        return number && std::isfinite(*number) && *number > bound;
      },
      fmt::format("a number above {}", bound));
}

CLI::Validator OneOf(std::vector<std::string> names) {
  return CLI::Validator(
      [names = std::move(names)](const std::string& text) {
        if (std::ranges::find(names, text) != names.end()) return std::string();
        return fmt::format("'{}' must be one of {}{}", text, fmt::join(names, ", "),
                           DidYouMean(text, names));
      },
      "");
}

}  // namespace octavo::cli
