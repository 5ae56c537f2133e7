// SPDX-License-Identifier: Apache-2.0
// Text from models and services, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace octavo::cli {

// Control characters become \xNN and line feeds blanks; names between single quotes are cut at 200
// bytes, the whole at 2 KiB.
std::string ForTerminal(std::string_view text);

}  // namespace octavo::cli
