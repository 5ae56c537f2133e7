// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line, and what was probably meant.
#pragma once

#include <CLI/CLI.hpp>

#include "core/base/status.h"

namespace octavo::cli {

// The error of a parse that failed: kUsage with the flag, if there is one, as the field.
Error UsageErrorOf(const CLI::App& program, const CLI::ParseError& error);

// The long flags of a command and those of the program: "--keep-float".
std::vector<std::string> FlagsOf(const CLI::App& command);

// Whether the flag may be given again for more values.
bool TakesSeveral(const CLI::Option& option);

}  // namespace octavo::cli
