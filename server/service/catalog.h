// What Capabilities.Get answers beside the limits: the tables of the core, by name.
#pragma once

#include <string>
#include <vector>

namespace octavo::server {

struct Catalog {
  std::string version = {};
  std::vector<std::string> targets = {};
  std::vector<std::string> ops = {};
  std::vector<std::string> numerics_modes = {};
  std::vector<std::string> passes = {};
};

}  // namespace octavo::server
