// SPDX-License-Identifier: Apache-2.0
// Text broken into lines.
#pragma once

#include <string>
#include <string_view>

namespace octavo {

// Breaks a text between words so that each line has at most `width` bytes, if its words permit;
// lines but the first begin with `indent` blanks more.
std::string Wrapped(std::string_view text, size_t indent, size_t width);

}  // namespace octavo
