// SPDX-License-Identifier: Apache-2.0
// Structured log: one JSON object per line on stderr, written by a thread of its own.  Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace octavo::server::log {

using Fields = nlohmann::json;

// Drops lines below `level`, which is "debug", "info", "warning" or "error".
void SetLevel(std::string_view level);
void Debug(std::string_view message, Fields fields = Fields::object());
void Info(std::string_view message, Fields fields = Fields::object());
void Warning(std::string_view message, Fields fields = Fields::object());
void Error(std::string_view message, Fields fields = Fields::object());
// Waits for half a second at most until all lines are written.
void Flush();
// Lines that were not written, because their reader was slow or gone or they were too many.
uint64_t Dropped();
// An object of numbers and short keys as a line of at most 4 KiB; long texts in it are cut.  The
// line is printable ASCII: texts come from clients, and a terminal may show them.
std::string LineOf(const Fields& fields);
// In RFC 3339, UTC with milliseconds: "2026-11-23T06:08:48.125Z".
std::string TimeText(std::chrono::system_clock::time_point time);
// `text`, or its first `most` bytes and "...".  Cuts between characters, unless it is not UTF-8.
std::string Shortened(const std::string& text, size_t most);

}  // namespace octavo::server::log
