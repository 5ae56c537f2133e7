// SPDX-License-Identifier: Apache-2.0
#include "client/cli/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace octavo::cli {
namespace {

constexpr size_t kMostNameBytes = 200;
constexpr size_t kMostBytes = 2048;

// Cuts between characters of UTF-8.
std::string_view Cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

// U+0080 to U+009F: C2 80 to C2 9F in UTF-8; some terminals obey them.
bool IsC1(std::string_view text, size_t at) {
  return text.substr(at, 1) == "\xC2" && at + 1 < text.size() &&
         static_cast<unsigned char>(text[at + 1]) < 0xA0;
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      escaped += ' ';
    } else if (byte < 0x20 || byte == 0x7F) {
      escaped += fmt::format("\\x{:02X}", byte);
    } else if (IsC1(text, i)) {
      escaped += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[++i]));
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

// The end of the name that a quote at `begin` opens; npos if it opens none, as in "client's".
size_t EndOfName(std::string_view text, size_t begin) {
  if (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '(') return text.npos;
  for (size_t end = text.find('\'', begin + 1); end != text.npos; end = text.find('\'', end + 1)) {
    const bool closes =
        end + 1 == text.size() || std::isalnum(static_cast<unsigned char>(text[end + 1])) == 0;
    if (closes) return end;
  }
  return text.size();
}

}  // namespace

std::string ForTerminal(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string safe;
  for (size_t i = 0; i < text.size() && safe.size() <= kMostBytes;) {
    const size_t end = text[i] == '\'' ? EndOfName(text, i) : text.npos;
    if (end == text.npos) {
      const size_t next = std::min(text.find('\'', i + 1), text.size());
      safe += Escaped(Cut(text.substr(i, next - i), kMostBytes + 1));
      i = next;
      continue;
    }
    const std::string_view name = text.substr(i + 1, end - i - 1);
    safe += '\'' + Escaped(Cut(name, kMostNameBytes));
    if (name.size() > kMostNameBytes) safe += "...";
    if (end < text.size()) safe += '\'';
    i = std::min(end + 1, text.size());
  }
  if (safe.size() <= kMostBytes) return safe;
  return std::string(Cut(safe, kMostBytes - 3)) + "...";
}

}  // namespace octavo::cli
