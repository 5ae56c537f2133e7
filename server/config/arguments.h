// SPDX-License-Identifier: Apache-2.0
// octavod's command line: a flag for each row of the table of settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "server/config/config.h"

namespace octavo::server {

// The arguments, with values as they stand there.
struct Arguments {
  std::map<std::string, std::string> values = {};  // by name of the setting
  std::string file = {};                           // of --config
  bool print_config = false;
  bool help = false;
  bool version = false;
};

// kUsage for an unknown flag or a missing value, with the flag as the field.  The last value of a
// flag that is given again counts.
Result<Arguments> ParseArguments(const std::vector<std::string>& args);

// The text of --help: the settings in groups with the values of `defaults` and the variables.
std::string HelpOf(const Config& defaults);

}  // namespace octavo::server
