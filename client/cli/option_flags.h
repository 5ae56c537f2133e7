// SPDX-License-Identifier: Apache-2.0
// The options of a job as flags: walks the table of core/options.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/options/option_table.h"

namespace octavo::cli {

// Collects the arguments while the command line is parsed.  It must outlive the parsing and not
// move.
class OptionFlags {
 public:
  // Adds the flags of one option, or of all options that have flags.
  void Add(CLI::App& command, std::string_view option);
  void AddAll(CLI::App& command);

  // Whether the command line has a flag of the option.
  bool Given(std::string_view option) const;
  // The options as set on the command line; kUsage with the flag as the field.
  Result<Options> Read() const;

 private:
  void AddRow(CLI::App& command, const OptionRow& row);

  std::map<std::string_view, std::vector<std::string>> given_;  // arguments by option
};

// Parses the argument of a flag with the same values as an option of another name: --against takes
// a numerics mode.
Result<Options> ReadAs(std::string_view flag, std::string_view text, std::string_view option);

}  // namespace octavo::cli
