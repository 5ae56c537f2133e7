// SPDX-License-Identifier: Apache-2.0
// `octavo`: parses the command line and runs one command.  Its result is an exit code and, for an
// error, one line on stderr.
#pragma once

#include <string>
#include <vector>

#include "client/cli/host.h"

namespace octavo::cli {

// `args` does not include the program's name.
int RunProgram(const std::vector<std::string>& args, const Host& host);

}  // namespace octavo::cli
