// SPDX-License-Identifier: Apache-2.0
// Formats figures and names of a report for the page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "octavo/v1/report.pb.h"

namespace octavo::report::html {

// The text for an undefined figure.
inline constexpr std::string_view kDash = "–";

// Escapes text for element content and double-quoted attributes; bytes that are not UTF-8 become
// U+FFFD.
std::string Escape(std::string_view text);
// Shortens the text to at most `most` bytes by omitting its middle; does not escape.
std::string Shorten(std::string_view text, size_t most);

std::string Count(int64_t count);  // 12,345
std::string Bytes(int64_t count);  // 12.3 KiB
// Prints `digits` significant digits.
std::string Figure(std::optional<double> figure, int digits);
std::string Decibel(std::optional<double> figure);  // 34.5 dB
std::string Percent(std::optional<double> ratio);   // 12.3 %

// A field of the report that may be unset: Optional(value.has_cosine(), value.cosine()).
inline std::optional<double> Optional(bool is_set, double figure) {
  return is_set ? std::optional(figure) : std::nullopt;
}

using Values = google::protobuf::RepeatedPtrField<v1::ValueNumerics>;
// A figure of a value; empty if undefined.
using FigureOf = std::optional<double> (*)(const v1::ValueNumerics& value);
std::optional<double> Sqnr(const v1::ValueNumerics& value);
std::optional<double> LocalSqnr(const v1::ValueNumerics& value);

// Whether every element equals the float model's; the SQNR is then undefined.
bool IsExact(const v1::ValueNumerics& value);
// The accumulated SQNR in dB, or "exact".
std::string SqnrText(const v1::ValueNumerics& value);

// A count with its noun: "1 node", "3 nodes".
std::string Plural(int64_t count, std::string_view noun);

}  // namespace octavo::report::html
