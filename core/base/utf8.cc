// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.h"

#include <bit>

namespace octavo {

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const auto length = static_cast<size_t>(std::countl_one(byte(0)));
  if (length < 2 || length > 4 || length > text.size()) return 0;
  char32_t character = byte(0) & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3Fu);
  }
  // The least character that needs as many bytes.
  constexpr char32_t kLeast[] = {0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  return character < kLeast[length - 2] || surrogate || character > 0x10FFFF ? 0 : length;
}

}  // namespace octavo
