// octavod put together: pools, scheduler, gRPC, HTTP, and its life from start to SIGTERM.
#pragma once

#include <memory>
#include <string>

#include "core/base/status.h"
#include "server/config/config.h"
#include "server/service/catalog.h"
#include "server/session/scheduler.h"

namespace octavo::server {

class Daemon {
 public:
  // Serves from here on, and writes the port file.
  static Result<std::unique_ptr<Daemon>> Start(const Config& config, const Catalog& catalog,
                                               JobRunner runner);
  ~Daemon();

  const std::string& address() const;
  const std::string& metrics_address() const;
  // Until SIGTERM or SIGINT; then drains.  A second signal ends the process at once with 143.
  void RunUntilSignal();
  // Not ready, a short wait, no new jobs, farewell, and running jobs get the drain timeout.
  void Drain();

 private:
  struct State;
  Daemon();
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
