// SPDX-License-Identifier: Apache-2.0
#include "server/log/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>

#include "server/log/writer.h"

namespace octavo::server::log {
namespace {

constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warning", "error"};
constexpr size_t kMostTextBytes = 1024;  // of one field

// Never destroyed: threads may log until the process ends.
Writer& Stderr() {
  static Writer* const writer = new Writer(STDERR_FILENO);
  return *writer;
}

std::atomic<size_t>& Least() {
  static std::atomic<size_t> least{1};
  return least;
}

void Write(size_t level, std::string_view message, Fields fields) {
  if (level < Least().load(std::memory_order_relaxed)) return;
  fields["time"] = TimeText(std::chrono::system_clock::now());
  fields["level"] = kLevels[level];
  fields["event"] = message;
  Stderr().Add(message, LineOf(fields));
}

}  // namespace

std::string Shortened(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && end + 4 > most && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string TimeText(std::chrono::system_clock::time_point time) {
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(millis);
  const time_t since_epoch = seconds.count();
  std::tm parts = {};
  gmtime_r(&since_epoch, &parts);
  char text[32] = {};
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", std::string_view(text, size), (millis - seconds).count());
}

std::string LineOf(const Fields& fields) {
  for (size_t most = kMostTextBytes;; most /= 2) {
    Fields shortened = Fields::object();
    for (const auto& [key, value] : fields.items()) {
      shortened[key] =
          value.is_string() ? Fields(Shortened(value.get_ref<const std::string&>(), most)) : value;
    }
    // A client's text may contain any bytes; the line must stay valid JSON.
    std::string line = shortened.dump(-1, ' ', true, Fields::error_handler_t::replace) + '\n';
    if (line.size() <= Writer::kMostLineBytes) return line;
  }
}

void SetLevel(std::string_view level) {
  for (size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i] == level) Least() = i;
  }
}

void Debug(std::string_view message, Fields fields) { Write(0, message, std::move(fields)); }
void Info(std::string_view message, Fields fields) { Write(1, message, std::move(fields)); }
void Warning(std::string_view message, Fields fields) { Write(2, message, std::move(fields)); }
void Error(std::string_view message, Fields fields) { Write(3, message, std::move(fields)); }

void Flush() { (void)Stderr().Flush(std::chrono::milliseconds(500)); }
uint64_t Dropped() { return Stderr().dropped(); }

}  // namespace octavo::server::log
