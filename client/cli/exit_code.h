// SPDX-License-Identifier: Apache-2.0
// The program's exit codes.
#pragma once

#include <span>
#include <string_view>

#include "core/base/status.h"

namespace octavo::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitGateFailed = 5;

struct ExitCode {
  int code = 0;
  std::string_view meaning = {};
};
// All of them, as --help lists them.
std::span<const ExitCode> ExitCodes();

int ExitCodeOf(Code code);
// `code` of the JSON error: "INVALID_ARGUMENT", "USAGE", ...
std::string_view CodeName(Code code);

}  // namespace octavo::cli
