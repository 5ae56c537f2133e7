// SPDX-License-Identifier: Apache-2.0
#include "core/report/html/text.h"

#include "core/base/utf8.h"
#include "fmt/format.h"

namespace octavo::report::html {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::string_view Entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
  }
  return {};
}

// A control character that HTML does not allow.
bool IsForbidden(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x7F || (byte < 0x20 && c != '\t' && c != '\n');
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0 || IsForbidden(text[0])) {
      escaped += kReplacement;
    } else if (const std::string_view entity = Entity(text[0]); !entity.empty()) {
      escaped += entity;
    } else {
      escaped += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

std::string Shorten(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t head = most / 2;
  size_t tail = text.size() - (most - head - 1);
  while (head > 0 && IsContinuation(text[head])) --head;
  while (tail < text.size() && IsContinuation(text[tail])) ++tail;
  return fmt::format("{}…{}", text.substr(0, head), text.substr(tail));
}

std::string Count(int64_t count) {
  std::string digits = fmt::format("{}", count);
  const int64_t first = count < 0 ? 1 : 0;
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string Bytes(int64_t count) {
  if (count < 1024) return fmt::format("{} B", count);
  double size = static_cast<double>(count);
  std::string_view unit;
  for (const std::string_view next : {"KiB", "MiB", "GiB", "TiB"}) {
    unit = next;
    size /= 1024;
    if (size < 1000) break;
  }
  return fmt::format("{:.{}f} {}", size, size < 100 ? 1 : 0, unit);
}

std::string Figure(std::optional<double> figure, int digits) {
  if (!figure) return std::string(kDash);
  return fmt::format("{:.{}g}", *figure, digits);
}

std::string Decibel(std::optional<double> figure) {
  if (!figure) return std::string(kDash);
  return fmt::format("{:.1f} dB", *figure);
}

std::string Percent(std::optional<double> ratio) {
  if (!ratio) return std::string(kDash);
  const double percent = *ratio * 100;
  if (percent == 0) return "0 %";
  if (percent < 0.01) return "< 0.01 %";
  return fmt::format("{:.{}f} %", percent, percent >= 99.995 || percent < 10 ? 2 : 1);
}

std::optional<double> Sqnr(const v1::ValueNumerics& value) {
  return Optional(value.has_sqnr_db(), value.sqnr_db());
}

std::optional<double> LocalSqnr(const v1::ValueNumerics& value) {
  return Optional(value.has_local_sqnr_db(), value.local_sqnr_db());
}

bool IsExact(const v1::ValueNumerics& value) { return value.exact(); }

std::string SqnrText(const v1::ValueNumerics& value) {
  return IsExact(value) ? "exact" : Decibel(Sqnr(value));
}

std::string Plural(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", Count(count), noun, count == 1 ? "" : "s");
}

}  // namespace octavo::report::html
