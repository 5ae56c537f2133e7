// SPDX-License-Identifier: Apache-2.0
// The table of octavod's settings.  A setting is --NAME on the command line, OCTAVO_NAME in the
// environment and "name" in the file.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/config/config.h"

namespace octavo::server {

struct Setting {
  std::string_view group = {};  // heading in the help
  std::string_view name = {};   // of the flag, without the dashes
  std::string_view value = {};  // placeholder in the help
  std::string_view help = {};
  // Fails with kUsage and a message that states which values are valid.
  Status (*set)(Config& config, const std::string& text) = nullptr;
  std::string (*get)(const Config& config) = nullptr;
  std::string_view otherwise = {};  // the default in the help, where it depends on the machine
};

std::span<const Setting> Settings();
// Null for an unknown name.
const Setting* FindSetting(std::string_view name);
// OCTAVO_MAX_NODES of max-nodes.
std::string VariableOf(std::string_view name);

}  // namespace octavo::server
