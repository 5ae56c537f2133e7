// SPDX-License-Identifier: Apache-2.0
#include "core/base/glob.h"

namespace octavo {

bool IsGlob(std::string_view pattern) { return pattern.find_first_of("*?") != pattern.npos; }

bool MatchesGlob(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0;
  // After a mismatch only the last '*' has to match more: what earlier ones match cannot help.
  size_t star = pattern.npos, matched = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      matched = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++matched;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace octavo
