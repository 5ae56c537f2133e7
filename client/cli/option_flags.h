// SPDX-License-Identifier: Apache-2.0
// Makes command-line flags of the job options in the table of core/options.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/options/option_table.h"

namespace octavo::cli {

// Collects the arguments during parsing.  It must outlive the parsing and must not move.
class OptionFlags {
 public:
  // Add adds the flags of one option; AddAll adds the flags of every option that has any.
  void Add(CLI::App& command, std::string_view option);
  void AddAll(CLI::App& command);

  // Whether the command line contains a flag of the option.
  bool Given(std::string_view option) const;
  // Returns `options` with the given arguments applied.  kUsage with the flag as the field.
  Result<Options> Read(Options options = {}) const;

 private:
  void AddRow(CLI::App& command, const OptionRow& row);

  std::map<std::string_view, std::vector<std::string>> given_;  // arguments by option
};

// Parses the argument of a flag as a value of an option with another name: `against` takes a
// numerics mode.
Result<Options> ReadAs(std::string_view flag, std::string_view text, std::string_view option);

}  // namespace octavo::cli
