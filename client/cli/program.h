// SPDX-License-Identifier: Apache-2.0
// The program `octavo`: parses the command line and runs one command.  It prints an error as one
// line on stderr and returns an exit code.
#pragma once

#include <string>
#include <vector>

#include "client/cli/host.h"

namespace octavo::cli {

// `args` excludes the program's name.
int RunProgram(const std::vector<std::string>& args, const Host& host);

}  // namespace octavo::cli
