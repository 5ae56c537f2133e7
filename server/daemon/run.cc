// SPDX-License-Identifier: Apache-2.0
#include "server/daemon/run.h"

#include <grpc/support/log.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "server/config/config.h"
#include "server/log/log.h"
#include "server/store/failpoint.h"

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

// gRPC writes to stderr itself otherwise, and waits for its reader.
void LogOfGrpc(gpr_log_func_args* line) {
  const log::Fields fields = {{"text", line->message}, {"file", line->file}, {"line", line->line}};
  if (line->severity == GPR_LOG_SEVERITY_ERROR) return log::Warning("grpc", fields);
  log::Debug("grpc", fields);
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
  std::signal(SIGPIPE, SIG_IGN);  // of a reader of the log that is gone
  gpr_set_log_function(&LogOfGrpc);
  log::SetLevel(config->log_level);
  if (auto ok = SetFailpoint(Environment("OCTAVO_FAILPOINT").value_or("")); !ok) {
    return Complain(ok.error());
  }
  auto daemon = Daemon::Start(*config, catalog, maker);
  if (!daemon) return Complain(daemon.error());
  (*daemon)->RunUntilSignal();
  return 0;
}

}  // namespace octavo::server
