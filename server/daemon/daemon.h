// SPDX-License-Identifier: Apache-2.0
// The running service: pools, scheduler, gRPC and HTTP servers, from start to SIGTERM.
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
  // Starts to serve and writes the port file.
  static Result<std::unique_ptr<Daemon>> Start(const Config& config, const Catalog& catalog,
                                               JobRunner runner);
  ~Daemon();

  const std::string& address() const;
  const std::string& metrics_address() const;
  // Serves until SIGTERM or SIGINT, then drains.  A second signal exits at once with 143.
  void RunUntilSignal();
  // Becomes not ready, waits --shutdown-wait, refuses new and queued jobs, and gives running jobs
  // --drain-timeout to finish.
  void Drain();

 private:
  struct State;
  Daemon();
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
