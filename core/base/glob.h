// SPDX-License-Identifier: Apache-2.0
// Patterns of names: '*' matches any characters, '?' one; all others match themselves.
#pragma once

#include <string_view>

namespace octavo {

bool IsGlob(std::string_view pattern);
// A pattern without '*' and '?' matches the equal name only.  Linear for one '*', at worst the
// product of both lengths.
bool MatchesGlob(std::string_view pattern, std::string_view name);

}  // namespace octavo
