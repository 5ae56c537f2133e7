// SPDX-License-Identifier: Apache-2.0
// Names from a file.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"

namespace octavo::cli {

// One name or pattern a line, without the blanks around it.  Empty lines and lines that begin with
// '#' are skipped.  kUsage if the file cannot be read or has no name.
Result<std::vector<std::string>> ReadNames(const std::string& path);

}  // namespace octavo::cli
