// Figures and names of a report as text for a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace octavo::report::html {

using Json = nlohmann::json;

// Shown where a figure is not defined.
inline constexpr std::string_view kDash = "–";

// The member `key` of `object`; null where it is absent or `object` is no object.
const Json& Member(const Json& object, std::string_view key);
// The number that `value` holds; none for null and anything else.
std::optional<double> Real(const Json& value);
int64_t Integer(const Json& value);         // 0 for anything but a number
std::string_view String(const Json& text);  // empty for anything but a string

// For text and for attribute values in double quotes; bytes that are not UTF-8 become U+FFFD.
std::string Escape(std::string_view text);
// At most `most` characters, the middle left out; not escaped.
std::string Shorten(std::string_view text, size_t most);

std::string Count(int64_t count);  // 12,345
std::string Bytes(int64_t count);  // 12.3 KiB
// `digits` significant digits.
std::string Figure(std::optional<double> figure, int digits);
std::string Decibel(std::optional<double> figure);  // 34.5 dB
std::string Percent(std::optional<double> ratio);   // 12.3 %

// The dB of key `key` in the figures `value`: "exact" where the values do not differ at all.
std::string SqnrOf(const Json& value, std::string_view key);

// The text of several nodes with a plural: "1 node", "3 nodes".
std::string Plural(int64_t count, std::string_view noun);

}  // namespace octavo::report::html
