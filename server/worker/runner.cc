// SPDX-License-Identifier: Apache-2.0
#include "server/worker/runner.h"

#include <algorithm>
#include <future>
#include <mutex>
#include <utility>
#include <vector>

#include "server/pool/work_pool.h"
#include "server/worker/conversation.h"
#include "server/worker/poison_list.h"

namespace octavo::server::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kBaseMemory = uint64_t{64} << 20;
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

// The estimate is that of admission (server/session/spec.cc): the weights twice and the samples
// once.  It knows nothing of the graph, hence the least.
ChildLimits LimitsFor(const RunnerOptions& options, const job::Request& request) {
  const Sizes sizes = SizesOf(request);
  const uint64_t estimate = kBaseMemory + 2 * sizes.model + sizes.data;
  const auto threads = static_cast<uint64_t>(std::max(1, request.options.threads)) + 1;
  return {
      .data_bytes = std::max(options.job_memory, estimate + estimate / 4) + threads * kThreadStack,
      .file_bytes = options.output_bytes + 4 * sizes.model,
      .cpu = options.job_cpu};
}

}  // namespace

struct Runner::State {
  State(RunnerOptions given, WorkerProbe& observer) : options(std::move(given)), probe(observer) {}
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
  std::vector<Started> spares;
  // A worker ends with the thread that started it, so one thread starts all of them.  Last: it uses
  // the other members.
  WorkPool spawner{1};

  Result<Started> SpawnHere() const;
  Result<Started> Spawn();
  Result<v1::Hello> Greet(Started& started);
  Result<std::unique_ptr<Conversation>> Take();
  void Keep(Started started);
  void AddSpare();
  void Discard(Conversation& worker) {
    probe.WorkerEnded(worker.cause(), worker.Reap().peak_rss_bytes);
  }
};

Result<Runner::State::Started> Runner::State::SpawnHere() const {
  const auto begun = Clock::now();
  OCTAVO_TRY(auto child, Child::Spawn(options.program, options.highest_level));
  return Started{.worker = std::make_unique<Conversation>(std::move(child)), .begun = begun};
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

// A spare that still runs, else a new worker.
Result<std::unique_ptr<Conversation>> Runner::State::Take() {
  for (;;) {
    Started started;
    {
      const std::lock_guard lock(mutex);
      if (spares.empty()) break;
      started = std::move(spares.back());
      spares.pop_back();
    }
    if (started.worker->child().EndsWithin(std::chrono::milliseconds(0))) {
      Discard(*started.worker);
      continue;
    }
    if (Greet(started)) return std::move(started.worker);
  }
  OCTAVO_TRY(Started started, Spawn());
  OCTAVO_CHECK(Greet(started));
  return std::move(started.worker);
}

void Runner::State::Keep(Started started) {
  const std::lock_guard lock(mutex);
  spares.push_back(std::move(started));
}

// One spare is enough: each job that takes it starts another one.  Does not wait for it.
void Runner::State::AddSpare() {
  spawner.Post([this] {
    {
      const std::lock_guard lock(mutex);
      if (!spares.empty()) return;
    }
    if (auto started = SpawnHere()) Keep(*std::move(started));
  });
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
  if (state->level < state->options.required_level) {
    state->Discard(*started->worker);
    return Fail(Code::kUsage, "workers reach isolation level {} on this system, not {}",
                state->level, state->options.required_level)
        .Field("--require-sandbox");
  }
  probe.SandboxLevel(state->level);
  state->Discard(*started->worker);
  state->AddSpare();
  return std::unique_ptr<Runner>(new Runner(std::move(state)));
}

Result<job::Outcome> Runner::Run(const job::Request& request, const StopToken& stop,
                                 const job::Observer& observer) {
  OCTAVO_CHECK(stop.Check());
  OCTAVO_CHECK(state_->poison.Check(request, Clock::now()));
  OCTAVO_TRY(const auto worker, state_->Take());
  state_->AddSpare();
  auto outcome = worker->Run(request, LimitsFor(state_->options, request),
                             state_->options.output_folder, stop, observer);
  state_->Discard(*worker);
  if (!outcome && outcome.error().code == Code::kAborted) {
    state_->poison.Crashed(request, outcome.error(), Clock::now());
  }
  return outcome;
}

}  // namespace octavo::server::worker
