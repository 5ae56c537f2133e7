// SPDX-License-Identifier: Apache-2.0
#include "server/daemon/run.h"

#include <cstdio>
#include <cstdlib>

#include "server/config/config.h"
#include "server/log/log.h"

namespace octavo::server {
namespace {

int Complain(const Error& error) {
  std::fprintf(stderr, "octavod: error: %s\n", error.message.c_str());
  return error.code == Code::kUsage ? 2 : 1;
}

std::optional<std::string> Environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

int Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int RunOctavod(int argc, char** argv, const Catalog& catalog, const RunnerMaker& maker) {
  const auto config = LoadConfig({argv + 1, argv + argc}, &Environment);
  if (!config) return Complain(config.error());
  if (config->help) return Print(ConfigHelp());
  if (config->version) return Print("octavod " + catalog.build + '\n');
  if (config->print_config) return Print(PrintConfig(*config));
  log::SetLevel(config->log_level);
  auto daemon = Daemon::Start(*config, catalog, maker);
  if (!daemon) return Complain(daemon.error());
  (*daemon)->RunUntilSignal();
  return 0;
}

}  // namespace octavo::server
