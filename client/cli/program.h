// `octavo`: parses the command line, runs one command, and turns what came of it into an exit code
// and at most one line on stderr.
#pragma once

#include <string>
#include <vector>

#include "client/cli/host.h"

namespace octavo::cli {

// `args` without the program's name.
int RunProgram(const std::vector<std::string>& args, const Host& host);

}  // namespace octavo::cli
