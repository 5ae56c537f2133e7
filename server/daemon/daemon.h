// SPDX-License-Identifier: Apache-2.0
// The running service from start to SIGTERM: thread pools, scheduler, gRPC server, HTTP server.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/status.h"
#include "server/config/config.h"
#include "server/service/catalog.h"
#include "server/session/scheduler.h"
#include "server/session/worker_probe.h"

namespace octavo::server {

// Makes what runs the jobs, from the configuration; reports workers to the probe, which outlives
// it.
using RunnerMaker = std::function<Result<JobRunner>(const Config&, worker::WorkerProbe&)>;

class Daemon {
 public:
  // Starts serving and writes the port file.
  static Result<std::unique_ptr<Daemon>> Start(const Config& config, const Catalog& catalog,
                                               const RunnerMaker& maker);
  ~Daemon();

  const std::string& address() const;
  const std::string& metrics_address() const;
  // Serves until SIGTERM or SIGINT, then drains.  A second signal exits at once with 143.
  void RunUntilSignal();
  // Reports "not ready", waits for --shutdown-wait, refuses uploads, new and queued jobs, lets
  // running jobs finish for at most --drain-timeout, and ends all other calls.
  void Drain();

 private:
  struct State;
  Daemon();
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
