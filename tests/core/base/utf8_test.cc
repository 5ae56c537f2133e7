// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.h"

#include <gtest/gtest.h>

namespace octavo {
namespace {

TEST(Utf8, EveryCharacterHasItsLength) {
  for (char32_t character = 1; character <= 0x10FFFF; ++character) {
    if (character >= 0xD800 && character <= 0xDFFF) continue;
    std::string text;
    if (character < 0x80) {
      text = {static_cast<char>(character)};
    } else {
      for (char32_t rest = character; text.size() < 3; rest >>= 6) {
        text.insert(text.begin(), static_cast<char>(0x80 | (rest & 0x3F)));
        const auto bits = 6 - static_cast<int>(text.size());
        if (rest >> 6 < (char32_t{1} << bits)) {
          const auto mark = static_cast<int>(0xFF00 >> (text.size() + 1));
          text.insert(text.begin(), static_cast<char>(mark | static_cast<int>(rest >> 6)));
          break;
        }
      }
    }
    ASSERT_EQ(Utf8Length(text + "x"), text.size()) << static_cast<uint32_t>(character);
    ASSERT_EQ(Utf8Length(text), text.size()) << static_cast<uint32_t>(character);
    if (text.size() > 1) {
      ASSERT_EQ(Utf8Length(text.substr(0, text.size() - 1)), 0u);
    }
  }
}

TEST(Utf8, WhatIsNoCharacterHasNone) {
  for (const std::string_view text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3x", "\xe0\x80\x80", "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(Utf8Length(text), 0u) << text;
  }
}

}  // namespace
}  // namespace octavo
