// SPDX-License-Identifier: Apache-2.0
#include "core/text/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/utf8.h"

namespace octavo::text {
namespace {

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace

bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsWordChar);
}

std::string Quote(std::string_view text) { return '"' + Escape(text) + '"'; }

std::string Escape(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const size_t length = Utf8Length(text);
    if (byte == '"' || byte == '\\') {
      escaped += '\\';
      escaped += text[0];
    } else if (byte == '\n') {
      escaped += "\\n";
    } else if (byte < 0x20 || byte == 0x7f || length == 0) {
      escaped += fmt::format("\\x{:02x}", byte);
    } else {
      escaped += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

std::optional<std::string> Unescape(std::string_view text) {
  const std::string quoted = fmt::format("\"{}\"", text);
  Lexer lexer(quoted);
  Token token = lexer.Next();
  if (token.kind != TokenKind::kString || lexer.Next().kind != TokenKind::kEnd) return std::nullopt;
  return std::move(token.text);
}

void Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (c == '\n') ++line_;
      ++at_;
    } else {
      return;
    }
  }
}

std::string Lexer::TakeWord() {
  const size_t start = at_;
  // '+' occurs in 1e+10; '?' in a symbolic dimension, which the parser rejects by name.
  while (at_ < text_.size() && !AtArrow() &&
         (IsWordChar(text_[at_]) || text_[at_] == '+' || text_[at_] == '?')) {
    ++at_;
  }
  return std::string(text_.substr(start, at_ - start));
}

Token Lexer::Quoted(TokenKind kind) {
  std::string value;
  for (++at_; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"') {
      ++at_;
      return Make(kind, std::move(value));
    }
    if (c == '\n') break;
    if (c == '\\') {
      const char escape = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      ++at_;
      if (escape == 'n') {
        c = '\n';
      } else if (escape == '"' || escape == '\\') {
        c = escape;
      } else if (escape == 'x' && at_ + 2 < text_.size() && HexDigit(text_[at_ + 1]) &&
                 HexDigit(text_[at_ + 2])) {
        c = static_cast<char>(*HexDigit(text_[at_ + 1]) * 16 + *HexDigit(text_[at_ + 2]));
        at_ += 2;
      } else {
        return Make(TokenKind::kError, "an escape must be one of \\\" \\\\ \\n \\xNN");
      }
    }
    value += c;
  }
  return Make(TokenKind::kError, "a string is not closed on its line");
}

Token Lexer::Next() {
  SkipBlanks();
  if (at_ >= text_.size()) return Make(TokenKind::kEnd, "the end of the text");
  const char c = text_[at_];
  if (c == '"') return Quoted(TokenKind::kString);
  if (AtArrow()) {
    at_ += 2;
    return Make(TokenKind::kSign, "->");
  }
  if (c == '%') {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '"') return Quoted(TokenKind::kName);
    std::string word = TakeWord();
    if (!IsWord(word)) return Make(TokenKind::kError, "'%' must be followed by a name");
    return Make(TokenKind::kName, std::move(word));
  }
  if (IsWordChar(c) || c == '+' || c == '?') return Make(TokenKind::kWord, TakeWord());
  if (std::string_view("(){}[]<>=:,@").find(c) != std::string_view::npos) {
    ++at_;
    return Make(TokenKind::kSign, std::string(1, c));
  }
  return Make(TokenKind::kError, fmt::format("{} has no meaning here", Quote({&c, 1})));
}

}  // namespace octavo::text
