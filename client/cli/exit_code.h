// SPDX-License-Identifier: Apache-2.0
// The meanings of the program's exit codes.
#pragma once

#include <string_view>

#include "core/base/status.h"

namespace octavo::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitGateFailed = 5;

int ExitCodeOf(Code code);
// "INVALID_ARGUMENT", "USAGE", ...: `code` of the JSON error.
std::string_view CodeName(Code code);

}  // namespace octavo::cli
