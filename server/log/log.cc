// SPDX-License-Identifier: Apache-2.0
#include "server/log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>

namespace octavo::server::log {
namespace {

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("octavod",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    return made;
  }();
  return *logger;
}

void Write(spdlog::level::level_enum level, std::string_view name, std::string_view message,
           Fields fields) {
  if (!Logger().should_log(level)) return;
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  fields["time"] = now.count();
  fields["level"] = name;
  fields["event"] = message;
  // A client's text may contain any bytes; the line must stay valid JSON.
  Logger().log(level, "{}", fields.dump(-1, ' ', false, Fields::error_handler_t::replace));
}

}  // namespace

void SetLevel(std::string_view level) {
  if (level == "debug") return Logger().set_level(spdlog::level::debug);
  if (level == "warning") return Logger().set_level(spdlog::level::warn);
  if (level == "error") return Logger().set_level(spdlog::level::err);
  Logger().set_level(spdlog::level::info);
}

void Debug(std::string_view message, Fields fields) {
  Write(spdlog::level::debug, "debug", message, std::move(fields));
}
void Info(std::string_view message, Fields fields) {
  Write(spdlog::level::info, "info", message, std::move(fields));
}
void Warning(std::string_view message, Fields fields) {
  Write(spdlog::level::warn, "warning", message, std::move(fields));
}
void Error(std::string_view message, Fields fields) {
  Write(spdlog::level::err, "error", message, std::move(fields));
}
void Flush() { Logger().flush(); }

}  // namespace octavo::server::log
