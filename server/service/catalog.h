// SPDX-License-Identifier: Apache-2.0
// The names in the core's tables.  Capabilities.GetCapabilities returns them, and metrics use them
// as label values.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace octavo::server {

struct Catalog {
  std::string version = {};  // "0.1.0"
  std::string build = {};    // the same with revision, build type and instruction set
  std::vector<std::string> targets = {};
  std::vector<std::string> ops = {};
  std::vector<std::string> numerics_modes = {};
  std::vector<std::string> passes = {};
  std::vector<std::pair<std::string, std::string>> rewrites = {};  // rule, effect
  std::vector<std::pair<std::string, std::string>> kernels = {};   // kernel, instruction set
};

}  // namespace octavo::server
