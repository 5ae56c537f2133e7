// SPDX-License-Identifier: Apache-2.0
#include "server/worker/runner.h"

#include <algorithm>
#include <deque>
#include <future>
#include <mutex>
#include <utility>

#include "server/log/log.h"
#include "server/pool/work_pool.h"
#include "server/worker/conversation.h"
#include "server/worker/poison_list.h"
#include "server/worker/worker.h"

namespace octavo::server::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kBaseMemory = uint64_t{64} << 20;
constexpr int kStarts = 3;  // attempts to start a worker for a job
constexpr uint64_t kThreadStack = uint64_t{8} << 20;

struct Sizes {
  uint64_t model = 0;  // with external data
  uint64_t data = 0;
};

Sizes SizesOf(const job::Request& request) {
  Sizes sizes;
  for (const RequestBlob& input : BlobsOf(request)) {
    const bool is_model =
        input.role == v1::Input::ROLE_MODEL || input.role == v1::Input::ROLE_EXTERNAL;
    (is_model ? sizes.model : sizes.data) += input.blob->bytes.size();
  }
  return sizes;
}

ChildLimits LimitsFor(const RunnerOptions& options, const job::Request& request) {
  const auto threads = static_cast<uint64_t>(std::max(1, request.options.threads)) + 1;
  return {.data_bytes = MostMemory(options.job_memory, request),
          .stack_bytes = threads * kThreadStack,
          .file_bytes = options.output_bytes + 4 * SizesOf(request).model,
          .cpu = options.job_cpu};
}

}  // namespace

// As the estimate of admission (server/session/spec.cc): the weights twice and the samples once.
uint64_t MostMemory(uint64_t job_memory, const job::Request& request) {
  const Sizes sizes = SizesOf(request);
  const uint64_t expected = kBaseMemory + 2 * sizes.model + sizes.data;
  return std::max(job_memory, expected + expected / 4);
}

job::Request WithMemoryLimit(job::Request request, uint64_t job_memory) {
  const auto most = static_cast<int64_t>(MostMemory(job_memory, request));
  int64_t& limit = request.limits.memory_bytes;
  limit = limit == 0 ? most : std::min(limit, most);
  return request;
}

struct Runner::State {
  State(RunnerOptions given, WorkerProbe& observer)
      : options(std::move(given)), probe(observer), poison(options.poison_file) {}
  ~State() {
    for (const Started& one : spares) Discard(*one.worker);
  }

  // A process that may not have said Hello yet.
  struct Started {
    std::unique_ptr<Conversation> worker = {};
    Clock::time_point begun = {};
  };

  const RunnerOptions options;
  WorkerProbe& probe;
  int level = 0;
  PoisonList poison;
  std::mutex mutex;
  std::deque<Started> spares;  // the oldest first: it has rehearsed
  // A worker ends with the thread that started it, so one thread starts all of them.  Last: it uses
  // the other members.
  WorkPool spawner{1};

  Result<Started> SpawnHere() const;
  Result<Started> Spawn();
  Result<v1::Hello> Greet(Started& started);
  Result<std::unique_ptr<Conversation>> Take();
  void Keep(Started started);
  void AddSpares();
  Result<job::Outcome> RunOnce(const job::Request& request, const std::string& folder,
                               const StopToken& stop, const job::Observer& observer, bool& began);
  Result<job::Outcome> Run(const job::Request& request, const std::string& folder,
                           const StopToken& stop, const job::Observer& observer);
  void Discard(Conversation& worker) {
    probe.WorkerEnded(worker.cause(), worker.Reap().peak_rss_bytes);
  }
};

Result<Runner::State::Started> Runner::State::SpawnHere() const {
  const auto begun = Clock::now();
  OCTAVO_TRY(auto child, Child::Spawn(options.program, options.highest_level));
  Started started;
  started.worker = std::make_unique<Conversation>(std::move(child));
  started.begun = begun;
  return started;
}

Result<Runner::State::Started> Runner::State::Spawn() {
  const auto answer = std::make_shared<std::promise<Result<Started>>>();
  auto started = answer->get_future();
  spawner.Post([this, answer] { answer->set_value(SpawnHere()); });
  return started.get();
}

Result<v1::Hello> Runner::State::Greet(Started& started) {
  auto hello = started.worker->Greeting(options.start_timeout);
  if (!hello) {
    Discard(*started.worker);
    return hello;
  }
  // A spare has been waiting since; the worker's own figure is bounded by what can be.
  const Clock::time_point locked{std::chrono::nanoseconds(hello->locked_nanoseconds())};
  const auto taken = std::clamp(locked, started.begun, Clock::now()) - started.begun;
  probe.WorkerStarted(std::chrono::duration<double>(taken).count());
  return hello;
}

// A spare that still runs, else a new worker.  One that is killed at its start is not the job's
// fault.
Result<std::unique_ptr<Conversation>> Runner::State::Take() {
  for (;;) {
    Started started;
    {
      const std::lock_guard lock(mutex);
      if (spares.empty()) break;
      started = std::move(spares.front());
      spares.pop_front();
    }
    if (started.worker->child().EndsWithin(std::chrono::milliseconds(0))) {
      Discard(*started.worker);
      continue;
    }
    if (Greet(started)) return std::move(started.worker);
  }
  for (int attempt = 1;; ++attempt) {
    OCTAVO_TRY(Started started, Spawn());
    const auto hello = Greet(started);
    if (hello) return std::move(started.worker);
    if (attempt == kStarts) return Forward(Error(hello.error()));
  }
}

void Runner::State::Keep(Started started) {
  const std::lock_guard lock(mutex);
  spares.push_back(std::move(started));
}

// Starts spares up to the number of the options, without waiting for them.  A start takes about
// 10 ms of processor time, which a job that runs meanwhile would lack: hence after a job.
void Runner::State::AddSpares() {
  spawner.Post([this] {
    for (;;) {
      {
        const std::lock_guard lock(mutex);
        if (static_cast<int>(spares.size()) >= options.spares) return;
      }
      auto started = SpawnHere();
      if (!started) return;
      Keep(*std::move(started));
    }
  });
}

// `began`: the outcome is the job's own.  A worker that was dying when it got the job, a spare that
// somebody killed, is not the job's fault.
Result<job::Outcome> Runner::State::RunOnce(const job::Request& request, const std::string& folder,
                                            const StopToken& stop, const job::Observer& observer,
                                            bool& began) {
  began = true;
  OCTAVO_TRY(const auto worker, Take());
  auto outcome = worker->Run(request, LimitsFor(options, request), folder, stop, observer);
  began = worker->began() || worker->cause() != Cause::kCrashed;
  Discard(*worker);
  AddSpares();
  return outcome;
}

// Also where a worker dies at its start.
Result<job::Outcome> Runner::State::Run(const job::Request& request, const std::string& folder,
                                        const StopToken& stop, const job::Observer& observer) {
  bool began = false;
  auto outcome = RunOnce(request, folder, stop, observer, began);
  for (int attempt = 1; attempt < kStarts && !outcome && !began; ++attempt) {
    outcome = RunOnce(request, folder, stop, observer, began);
  }
  return outcome;
}

Runner::Runner(std::unique_ptr<State> state) : state_(std::move(state)) {}
Runner::~Runner() = default;

int Runner::level() const { return state_->level; }

Result<std::unique_ptr<Runner>> Runner::Start(RunnerOptions options, WorkerProbe& probe) {
  auto state = std::make_unique<State>(std::move(options), probe);
  const auto cannot = [](const Error& error) {
    return Fail(Code::kUsage, "{}; --isolation thread does without workers", error.message)
        .Field("--isolation");
  };
  auto started = state->Spawn();
  if (!started) return cannot(started.error());
  const auto hello = state->Greet(*started);
  if (!hello) return cannot(hello.error());
  if (!hello->error().empty()) {
    state->Discard(*started->worker);
    return cannot(Fail(Code::kUsage, "a worker cannot be isolated: {}", hello->error()).error());
  }
  if (hello->build() != state->options.build) {
    state->Discard(*started->worker);
    return Fail(Code::kUsage, "the worker '{}' is of build '{}', not '{}'", state->options.program,
                hello->build(), state->options.build)
        .Field("--worker");
  }
  state->level = static_cast<int>(hello->sandbox_level());
  if (kLocked && state->level < state->options.required_level) {
    state->Discard(*started->worker);
    return Fail(Code::kUsage, "workers reach isolation level {} on this system, not {}",
                state->level, state->options.required_level)
        .Field("--require-sandbox");
  }
  probe.SandboxLevel(state->level);
  state->Discard(*started->worker);
  state->AddSpares();
  return std::unique_ptr<Runner>(new Runner(std::move(state)));
}

Result<job::Outcome> Runner::Run(const job::Request& given, const StopToken& stop,
                                 const job::Observer& observer) {
  OCTAVO_CHECK(stop.Check());
  const job::Request request = WithMemoryLimit(given, state_->options.job_memory);
  OCTAVO_CHECK(state_->poison.Check(request, PoisonList::Clock::now()));
  const std::string& folder = state_->options.output_folder;
  auto outcome = state_->Run(request, folder, stop, observer);
  if (!outcome && outcome.error().reason == "STORAGE" && !folder.empty()) {
    // The disk was full when the worker wrote its results.
    log::Warning("job again, with its output in memory", {{"reason", outcome.error().message}});
    outcome = state_->Run(request, std::string(), stop, observer);
  }
  // No worker can be started.
  if (!outcome && outcome.error().code == Code::kUnavailable) {
    outcome.error().reason = "NOT_SERVING";
  }
  if (!outcome && outcome.error().code == Code::kAborted) {
    state_->poison.Crashed(request, outcome.error(), PoisonList::Clock::now());
  }
  return outcome;
}

}  // namespace octavo::server::worker
