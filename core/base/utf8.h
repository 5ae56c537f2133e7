// SPDX-License-Identifier: Apache-2.0
// Texts of models may hold any bytes; JSON, protobuf and HTML accept UTF-8 only.
#pragma once

#include <cstddef>
#include <string_view>

namespace octavo {

// The number of bytes of the UTF-8 character at the start of a text that is not empty; 0 if there
// is none: a stray, missing or surplus byte, a surrogate, a number above U+10FFFF.
size_t Utf8Length(std::string_view text);

}  // namespace octavo
