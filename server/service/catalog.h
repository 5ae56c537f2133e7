// The tables of the core, by name: what Capabilities.Get answers beside the limits, and the closed
// sets from which metrics take their labels.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace octavo::server {

struct Catalog {
  std::string version = {};
  std::vector<std::string> targets = {};
  std::vector<std::string> ops = {};
  std::vector<std::string> numerics_modes = {};
  std::vector<std::string> passes = {};
  std::vector<std::pair<std::string, std::string>> rewrites = {};  // rule, effect
  std::vector<std::pair<std::string, std::string>> kernels = {};   // kernel, instruction set
};

}  // namespace octavo::server
