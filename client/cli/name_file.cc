// SPDX-License-Identifier: Apache-2.0
#include "client/cli/name_file.h"

#include <algorithm>

#include "core/base/blob.h"

namespace octavo::cli {

Result<std::vector<std::string>> ReadNames(const std::string& path) {
  OCTAVO_TRY(const Blob bytes, Blob::MapFile(path));
  std::vector<std::string> names;
  const std::string_view text = bytes.text();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kBlanks = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    if (!line.empty() && line.front() != '#') names.emplace_back(line);
  }
  if (names.empty()) return Fail(Code::kUsage, "'{}' has no names, one a line", path).Field(path);
  return names;
}

}  // namespace octavo::cli
