// SPDX-License-Identifier: Apache-2.0
// Splits a text graph into words, names, strings and signs, one token at a time, so that memory use
// does not depend on the length of a hostile text.  A malformed token has kind kError and the
// message as its text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace octavo::text {

enum class TokenKind {
  kWord,    // tensor, f32, -1.5e-3, 1x3x8xi8
  kName,    // %x or %"out:0"; text is the name itself
  kString,  // "..."; text is the unescaped content
  kSign,    // one of ( ) { } [ ] < > = : , @ and ->
  kError,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text = {};
  int line = 1;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token Next();

 private:
  void SkipBlanks();
  Token Make(TokenKind kind, std::string text) const { return {kind, std::move(text), line_}; }
  Token Quoted(TokenKind kind);
  bool AtArrow() const { return text_.substr(at_, 2) == "->"; }
  std::string TakeWord();

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

// Whether a text needs no quotes: [A-Za-z0-9_.-]+.
bool IsWord(std::string_view text);
// The text with \" \\ \n \xNN for quotes, backslashes, control characters and bytes that are not
// UTF-8; nullopt if a text is not of this form.
std::string Escape(std::string_view text);
std::optional<std::string> Unescape(std::string_view text);
// The escaped text in quotes; the lexer reverses this.
std::string Quote(std::string_view text);

}  // namespace octavo::text
