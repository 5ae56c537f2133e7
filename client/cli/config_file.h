// SPDX-License-Identifier: Apache-2.0
// The TOML file of --config: the flags of a command as keys.
#pragma once

#include <CLI/CLI.hpp>
#include <istream>
#include <vector>

#include "client/cli/host.h"

namespace octavo::cli {

// A key is a long flag without the dashes ('_' may stand for '-') or a positional argument in lower
// case, as `model`.  Keys above all tables are of the command that runs, and the table [COMMAND] is
// read by that command only.  The command line and the environment override the file.  An unknown
// table or key is a CLI::ConfigError.
class ConfigFile : public CLI::ConfigBase {
 public:
  ConfigFile(const CLI::App& program, const Host& host) : program_(program), host_(host) {}
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  const CLI::App& program_;
  const Host& host_;
};

}  // namespace octavo::cli
