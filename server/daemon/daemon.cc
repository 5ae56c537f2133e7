// SPDX-License-Identifier: Apache-2.0
#include "server/daemon/daemon.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/blob.h"
#include "server/convert/job.h"
#include "server/daemon/storage.h"
#include "server/http/http_server.h"
#include "server/log/log.h"
#include "server/metrics/probe.h"
#include "server/pool/watchdog.h"
#include "server/service/grpc_server.h"
#include "server/session/upload.h"

namespace octavo::server {
namespace {

// For what is not a job: a status on its way, streams of Health.Watch, reflection.
constexpr auto kCallGrace = std::chrono::milliseconds(500);

// Each connection and each upload takes a descriptor, and the soft limit is made for select().
void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    log::Warning("the limit of open files stays", {{"limit", limit.rlim_cur}});
  }
}

ConnectionCaps CapsOf(const Config& config) {
  ConnectionCaps caps = DefaultConnectionCaps();
  if (config.max_connections > 0) caps.in_all = config.max_connections;
  caps.per_address = config.max_connections_per_address > 0
                         ? config.max_connections_per_address
                         : std::max<uint64_t>(1, caps.in_all / 2);
  return caps;
}

// Long after OctavoEventLoopLag has fired: whoever asks for liveness restarts the server.
constexpr auto kStuck = std::chrono::seconds(10);

void StopAtOnce(int) { _exit(128 + SIGTERM); }

}  // namespace

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
  std::unique_ptr<Storage> storage;     // null without a state folder
  std::unique_ptr<BlobServices> blobs;  // likewise
  WorkPool transfers{2};
  WorkPool disk{std::max(2, config.limits.workers)};
  Scheduler scheduler;
  Flights flights{scheduler, disk, probe};
  SessionServices services{.limits = config.limits,
                           .scheduler = scheduler,
                           .disk = disk,
                           .loop = loop,
                           .probe = probe,
                           .flights = flights};
  std::shared_ptr<JobBoard> board;  // null without a state folder
  std::mutex serving;
  std::atomic<bool> ready{false};  // set under `serving`
  std::unique_ptr<HttpServer> http;
  std::unique_ptr<GrpcServer> grpc;
  std::unique_ptr<Watchdog> watchdog;
  std::promise<int> signalled;
  std::atomic<int> signals{0};

  HttpAnswer Answer(std::string_view path) const {
    if (path == "/metrics") {
      return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = probe.Text()};
    }
    if (path == "/livez" && loop.StuckFor(kStuck)) {
      return {.status = 503, .body = "the event loop is stuck\n"};
    }
    if (path == "/livez") return {.body = "alive\n"};
    if (path == "/readyz" && ready && storage && !storage->writable()) {
      return {.status = 503, .body = "the state folder cannot be written\n"};
    }
    if (path == "/readyz" && ready) return {.body = "ready\n"};
    if (path == "/readyz") return {.status = 503, .body = "not ready\n"};
    return {.status = 404, .body = "only /metrics, /livez and /readyz\n"};
  }

  Occupancy Now() const {
    Occupancy now = scheduler.Now();
    if (blobs) now.uploads += static_cast<int>(blobs->writes.open());
    return now;
  }

  void Serve(bool writable) {
    const std::lock_guard lock(serving);
    if (ready) grpc->SetServing(writable);
  }

  void StopServing() {
    const std::lock_guard lock(serving);
    ready = false;
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
  state_->StopServing();
  state_->watchdog = nullptr;
  state_->http = nullptr;
  state_->probe.Unwatch();
  state_->scheduler.StopAll();
  state_->grpc = nullptr;
  if (state_->board) state_->board->Stop();
  // A timer's callback may be the last owner of a session, and the session's Serial must not
  // outlive `disk`.
  state_->loop.Stop();
}

Result<std::unique_ptr<Daemon>> Daemon::Start(const Config& config, const Catalog& catalog,
                                              const RunnerMaker& maker) {
  OCTAVO_CHECK(Upload::TryFolder(config.limits.state_dir));
  RaiseDescriptorLimit();
  std::unique_ptr<Daemon> self(new Daemon());
  self->state_ = std::make_unique<State>(config, catalog);
  State& state = *self->state_;
  OCTAVO_TRY(state.runner, maker(config, state.probe));
  if (!config.limits.state_dir.empty()) {
    OCTAVO_TRY(state.storage, Storage::Open(config.limits, state.disk, state.loop,
                                            [&state](bool writable) { state.Serve(writable); }));
    state.services.results = &state.storage->results();
    state.services.blobs = &state.storage->blobs();
    state.flights.KeepIn(state.storage->results());
    state.blobs.reset(new BlobServices{.limits = config.limits,
                                       .store = state.storage->blobs(),
                                       .pool = state.transfers,
                                       .loop = state.loop,
                                       .probe = state.probe});
    OCTAVO_TRY(state.board, JobBoard::Start({.limits = config.limits,
                                             .journal = state.storage->journal(),
                                             .blobs = state.storage->blobs(),
                                             .results = state.storage->results(),
                                             .scheduler = state.scheduler,
                                             .flights = state.flights,
                                             .disk = state.disk,
                                             .loop = state.loop,
                                             .probe = state.probe,
                                             .read_spec = &ReadSpecBytes}));
    state.services.board = state.board;
    state.probe.WatchStore([&state] { return state.storage->blobs().Now(); });
  }
  state.probe.Watch([&state] { return state.Now(); }, [&state] { return state.loop.LagSeconds(); });
  OCTAVO_TRY(state.grpc,
             GrpcServer::Start({.listen = config.listen,
                                .reflection = config.reflection,
                                .caps = CapsOf(config),
                                .isolation = {.processes = config.isolation == "process",
                                              .sandbox_level = state.probe.sandbox_level()}},
                               state.services, catalog, state.probe, state.blobs.get()));
  OCTAVO_TRY(state.http, HttpServer::Start(config.metrics, [&state](std::string_view path) {
               return state.Answer(path);
             }));
  state.watchdog = std::make_unique<Watchdog>(state.loop, kStuck, [&state](bool stuck) {
    log::Warning(stuck ? "event loop stuck" : "event loop runs again");
    state.grpc->SetAlive(!stuck);
  });
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
  // The loop, which has heard the signals so far, ends before the jobs' threads do.
  for (const int again : {SIGTERM, SIGINT}) std::signal(again, &StopAtOnce);
  log::Info("stopped");
  log::Flush();
}

void Daemon::Drain() {
  state_->StopServing();
  state_->grpc->SetServing(false);
  std::this_thread::sleep_for(state_->config.shutdown_wait);
  state_->scheduler.Drain();
  if (state_->blobs) state_->blobs->Drain();
  // Calls that are no jobs do not count.
  if (!state_->scheduler.WaitForJobs(std::chrono::steady_clock::now() +
                                     state_->config.drain_timeout)) {
    state_->scheduler.StopAll();
    state_->scheduler.WaitForJobs(std::chrono::steady_clock::now() + kCallGrace);
  }
  state_->watchdog = nullptr;
  state_->grpc->Shutdown(std::chrono::system_clock::now() + kCallGrace);
}

}  // namespace octavo::server
