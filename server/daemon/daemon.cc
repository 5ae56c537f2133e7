// SPDX-License-Identifier: Apache-2.0
#include "server/daemon/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <thread>
#include <utility>

#include "core/base/blob.h"
#include "server/http/http_server.h"
#include "server/log/log.h"
#include "server/metrics/probe.h"
#include "server/service/grpc_server.h"

namespace octavo::server {

// In order of construction: each member uses members above it and is destroyed before them.
struct Daemon::State {
  State(const Config& given, const Catalog& catalog)
      : config(given),
        probe(catalog),
        scheduler(
            given.limits,
            [this](const job::Request& request, const StopToken& stop,
                   const job::Observer& observer) { return runner(request, stop, observer); },
            probe) {}

  const Config config;
  Probe probe;
  JobRunner runner;
  EventLoop loop;
  WorkPool disk{std::max(2, config.limits.workers)};
  Scheduler scheduler;
  SessionServices services{
      .limits = config.limits, .scheduler = scheduler, .disk = disk, .loop = loop, .probe = probe};
  std::atomic<bool> ready{false};
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<GrpcServer> grpc;
  std::promise<int> signalled;
  std::atomic<int> signals{0};

  HttpAnswer Answer(std::string_view path) const {
    if (path == "/metrics") {
      return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = probe.Text()};
    }
    if (path == "/livez") return {.body = "alive\n"};
    if (path == "/readyz" && ready) return {.body = "ready\n"};
    if (path == "/readyz") return {.status = 503, .body = "not ready\n"};
    return {.status = 404, .body = "only /metrics, /livez and /readyz\n"};
  }

  void OnSignal(int signal) {
    if (signals++ == 0) return signalled.set_value(signal);
    log::Warning("second signal: stopping at once", {{"signal", signal}});
    log::Flush();
    _exit(128 + SIGTERM);
  }
};

Daemon::Daemon() = default;

Daemon::~Daemon() {
  state_->http = nullptr;
  state_->probe.Unwatch();
  state_->scheduler.StopAll();
  state_->grpc = nullptr;
  // A timer's callback may be the last owner of a session, and the session's Serial must not
  // outlive `disk`.
  state_->loop.Stop();
}

Result<std::unique_ptr<Daemon>> Daemon::Start(const Config& config, const Catalog& catalog,
                                              const RunnerMaker& maker) {
  std::unique_ptr<Daemon> self(new Daemon());
  self->state_ = std::make_unique<State>(config, catalog);
  State& state = *self->state_;
  OCTAVO_TRY(state.runner, maker(config, state.probe));
  state.probe.Watch([&state] { return state.scheduler.Now(); },
                    [&state] { return state.loop.LagSeconds(); });
  OCTAVO_TRY(state.grpc, GrpcServer::Start(config.listen, state.services, catalog, state.probe));
  OCTAVO_TRY(state.http, HttpServer::Start(config.metrics, [&state](std::string_view path) {
               return state.Answer(path);
             }));
  state.ready = true;
  if (!config.port_file.empty()) {
    OCTAVO_CHECK(WriteFile(config.port_file, std::string_view(self->address() + '\n' +
                                                              self->metrics_address() + '\n')));
  }
  log::Info("serving", {{"address", self->address()},
                        {"metrics", self->metrics_address()},
                        {"version", catalog.version},
                        {"workers", config.limits.workers},
                        {"job_threads", config.limits.job_threads}});
  return self;
}

const std::string& Daemon::address() const { return state_->grpc->address(); }
const std::string& Daemon::metrics_address() const { return state_->http->address(); }

void Daemon::RunUntilSignal() {
  state_->loop.OnSignals({SIGTERM, SIGINT}, [this](int signal) { state_->OnSignal(signal); });
  const int signal = state_->signalled.get_future().get();
  log::Info("draining", {{"signal", signal}});
  Drain();
  log::Info("stopped");
  log::Flush();
}

void Daemon::Drain() {
  state_->ready = false;
  state_->grpc->SetServing(false);
  std::this_thread::sleep_for(state_->config.shutdown_wait);
  state_->scheduler.Drain();
  state_->grpc->Shutdown(std::chrono::system_clock::now() + state_->config.drain_timeout);
  state_->scheduler.StopAll();
}

}  // namespace octavo::server
