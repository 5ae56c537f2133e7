// SPDX-License-Identifier: Apache-2.0
// The text of --help: flags in groups with their defaults, choices and variables, then examples,
// variables and exit codes, broken to fit a width.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "client/cli/host.h"

namespace octavo::cli {

// Columns of the screen: COLUMNS, or the terminal's, or 80.
size_t ScreenWidth(const Host& host);

class Help : public CLI::Formatter {
 public:
  explicit Help(const Host& host) : host_(host) {}
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 private:
  const Host& host_;
};

}  // namespace octavo::cli
