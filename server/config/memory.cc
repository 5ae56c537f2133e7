// SPDX-License-Identifier: Apache-2.0
#include "server/config/memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace octavo::server {
namespace {

// 0 if the file is absent or holds no number, as "max" is none.
uint64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

uint64_t MachineMemory(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string word;
  uint64_t kibibytes = 0;
  while (file >> word) {
    if (word == "MemTotal:" && file >> kibibytes) return kibibytes << 10;
  }
  return 0;
}

uint64_t Least(uint64_t a, uint64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

// The least limit of a group and of all above it.
uint64_t LimitOf(const std::string& mount, std::string group, const std::string& file) {
  uint64_t least = 0;
  for (;;) {
    least = Least(least, NumberIn(mount + group + '/' + file));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

bool Has(const std::string& list, std::string_view name) {
  std::istringstream names(list);
  for (std::string each; std::getline(names, each, ',');) {
    if (each == name) return true;
  }
  return false;
}

}  // namespace

uint64_t UsableMemory(const std::string& root) {
  uint64_t least = MachineMemory(root);
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/system.slice/octavod" of version 2, "4:memory:/docker/0a1b" of version 1.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers.empty()) {
      least = Least(least, LimitOf(mount, group, "memory.max"));
    } else if (Has(controllers, "memory")) {
      least = Least(least, LimitOf(mount + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace octavo::server
