// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/verify/certificate.h"

namespace octavo::verify {

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string TextOf(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line;
    text += '\n';
  }
  return text;
}

Result<std::vector<std::string>> Apply(const std::vector<std::string>& from,
                                       const std::vector<Edit>& edits) {
  std::vector<std::string> to;
  size_t next = 0;
  for (const Edit& edit : edits) {
    const auto at = static_cast<size_t>(edit.at);
    if (at < next || at > from.size() || edit.before.size() > from.size() - at) {
      return Refuse("an edit at line {} overlaps another or passes the end", edit.at);
    }
    to.insert(to.end(), from.begin() + next, from.begin() + at);
    for (size_t i = 0; i < edit.before.size(); ++i) {
      if (from[at + i] == edit.before[i]) continue;
      return Refuse("line {} is `{}`, but the certificate rewrites `{}`", at + i, from[at + i],
                    edit.before[i]);
    }
    to.insert(to.end(), edit.after.begin(), edit.after.end());
    next = at + edit.before.size();
  }
  to.insert(to.end(), from.begin() + next, from.end());
  return to;
}

}  // namespace octavo::verify
