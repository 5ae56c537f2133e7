// SPDX-License-Identifier: Apache-2.0
// Structured log: one JSON object per line on stderr.  Thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace octavo::server::log {

using Fields = nlohmann::json;

// Drops lines below `level`, which is "debug", "info", "warning" or "error".
void SetLevel(std::string_view level);
void Debug(std::string_view message, Fields fields = Fields::object());
void Info(std::string_view message, Fields fields = Fields::object());
void Warning(std::string_view message, Fields fields = Fields::object());
void Error(std::string_view message, Fields fields = Fields::object());
void Flush();

}  // namespace octavo::server::log
