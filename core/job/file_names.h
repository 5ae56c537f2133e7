// SPDX-License-Identifier: Apache-2.0
// Makes file names of value names: replaces characters outside [A-Za-z0-9._-] by '_', keeps at most
// 120 characters, and appends "-2", "-3" to make equal names distinct.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace octavo::job {

class FileNames {
 public:
  std::string For(std::string_view value) {
    std::string name(value.substr(0, 120));
    for (char& c : name) {
      const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
      if (!plain) c = '_';
    }
    const int times = ++seen_[name];
    return times == 1 ? name : name + "-" + std::to_string(times);
  }

 private:
  std::map<std::string, int> seen_;
};

}  // namespace octavo::job
