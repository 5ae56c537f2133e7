// SPDX-License-Identifier: Apache-2.0
// How much memory this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace octavo::server {

// The least of the machine's memory and the limits of the process's control groups and of those
// above them (version 2, or the memory controller of version 1); 0 if nothing says.  `root` is
// where /proc and /sys are, for tests.
uint64_t UsableMemory(const std::string& root = "");

}  // namespace octavo::server
