// octavod: the optimizer as a service.  Binds the job of the core to the daemon.
#include <cstdio>
#include <cstdlib>

#include "core/job/job.h"
#include "server/catalog_of_core.h"
#include "server/config/config.h"
#include "server/daemon/daemon.h"
#include "server/log/log.h"

namespace {

int Complain(const octavo::Error& error) {
  std::fprintf(stderr, "octavod: error: %s\n", error.message.c_str());
  return error.code == octavo::Code::kUsage ? 2 : 1;
}

std::optional<std::string> Environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace octavo;
  const auto config = server::LoadConfig({argv + 1, argv + argc}, &Environment);
  if (!config) return Complain(config.error());
  const server::Catalog catalog = server::CatalogOfCore();
  if (config->help || config->version || config->print_config) {
    const std::string text = config->help      ? server::ConfigHelp()
                             : config->version ? "octavod " + catalog.version + '\n'
                                               : server::PrintConfig(*config);
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  server::log::SetLevel(config->log_level);
  auto daemon = server::Daemon::Start(*config, catalog, &job::Run);
  if (!daemon) return Complain(daemon.error());
  (*daemon)->RunUntilSignal();
  return 0;
}
