// SPDX-License-Identifier: Apache-2.0
#include "server/session/scheduler.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

namespace octavo::server {

using Clock = std::chrono::steady_clock;

// The state of an admitted job.  The scheduler's mutex guards it.
struct Scheduler::Reservation::State {
  enum class Stage { kUploading, kWaiting, kRunning, kDone };
  Stage stage = Stage::kUploading;
  Job job = {};
  StopToken stop = {};
  Clock::time_point since = {};
  uint64_t working = 0;
};

struct Scheduler::State {
  using ReservationState = Reservation::State;
  struct Client {
    std::deque<std::shared_ptr<ReservationState>> waiting = {};
    uint64_t last_turn = 0;
    int reservations = 0;  // the last one erases the entry
  };

  State(const Limits& given, JobRunner run, JobProbe& observer)
      : limits(given), runner(std::move(run)), probe(observer), workers(given.workers) {}

  const Limits limits;
  const JobRunner runner;
  JobProbe& probe;

  mutable std::mutex mutex;
  std::map<std::string, Client> clients;
  std::set<std::shared_ptr<ReservationState>> running;
  std::multiset<uint64_t> admitted_working;
  int admitted = 0;
  int waiting = 0;
  uint64_t stored = 0;
  uint64_t working = 0;
  uint64_t turn = 0;
  double mean_seconds = 1;  // exponential moving average of run times
  bool draining = false;
  WorkPool workers;  // last: its destructor waits for jobs that use the other members

  uint64_t LargestWorkingWith(uint64_t bytes) const {
    return admitted_working.empty() ? bytes : std::max(bytes, *admitted_working.rbegin());
  }
  std::chrono::milliseconds RetryAfter() const;
  std::shared_ptr<ReservationState> TakeNext();
  void StartWhatFits();
  void Run(const std::shared_ptr<ReservationState>& reservation);
};

namespace {

CallStatus Refusal(Error error, std::optional<std::chrono::milliseconds> retry_after) {
  return {.error = std::move(error), .retry_after = retry_after};
}

Result<job::Outcome> RunGuarded(const JobRunner& runner, const job::Request& request,
                                const StopToken& stop, const job::Observer& observer) {
  OCTAVO_CHECK(stop.Check());
  try {
    return runner(request, stop, observer);
  } catch (const std::bad_alloc&) {
    return Fail(Code::kResourceExhausted, "the job ran out of memory").Reason("OUT_OF_MEMORY");
  } catch (const std::exception& error) {
    return Fail(Code::kInternal, "the job threw: {}", error.what());
  }
}

}  // namespace

CallStatus Draining() {
  return Refusal(
      Fail(Code::kUnavailable, "the service is shutting down").Reason("DRAINING").error(),
      std::chrono::seconds(1));
}

// The expected time until the queue advances by one job.
std::chrono::milliseconds Scheduler::State::RetryAfter() const {
  const double seconds = mean_seconds / limits.workers;
  return std::chrono::milliseconds(static_cast<int64_t>(std::clamp(seconds, 0.2, 60.0) * 1000));
}

// Returns the next job of the client whose last turn is oldest.  Returns null until that job's
// bytes are free: smaller jobs must not overtake a large one forever.
std::shared_ptr<Scheduler::Reservation::State> Scheduler::State::TakeNext() {
  Client* next = nullptr;
  for (auto& [name, client] : clients) {
    if (client.waiting.empty()) continue;
    const auto key = [](const Client& c) { return std::pair(c.last_turn, c.waiting[0]->since); };
    if (next == nullptr || key(client) < key(*next)) next = &client;
  }
  if (next == nullptr) return nullptr;
  auto reservation = next->waiting.front();
  if (stored + working + reservation->working > limits.bytes_reserved) return nullptr;
  next->waiting.pop_front();
  next->last_turn = ++turn;
  --waiting;
  return reservation;
}

// The caller holds the mutex.
void Scheduler::State::StartWhatFits() {
  while (static_cast<int>(running.size()) < limits.workers) {
    auto reservation = TakeNext();
    if (reservation == nullptr) return;
    const auto now = Clock::now();
    auto deadline = now + limits.job_timeout;
    if (reservation->job.deadline) deadline = std::min(deadline, *reservation->job.deadline);
    reservation->stop = StopToken(deadline);
    reservation->stage = ReservationState::Stage::kRunning;
    working += reservation->working;
    running.insert(reservation);
    probe.WaitedInQueue(std::chrono::duration<double>(now - reservation->since).count());
    workers.Post([this, reservation] { Run(reservation); });
  }
}

void Scheduler::State::Run(const std::shared_ptr<ReservationState>& reservation) {
  Job job;
  {
    std::lock_guard lock(mutex);
    job = std::move(reservation->job);
  }
  const auto begin = Clock::now();
  auto outcome = RunGuarded(runner, job.request, reservation->stop, job.observer);
  job.request = {};
  {
    std::lock_guard lock(mutex);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    mean_seconds = 0.8 * mean_seconds + 0.2 * seconds;
    working -= reservation->working;
    running.erase(reservation);
    reservation->stage = ReservationState::Stage::kDone;
    StartWhatFits();
  }
  job.done(std::move(outcome));
}

Scheduler::Reservation::Reservation(Scheduler& scheduler, std::string client, Footprint footprint)
    : scheduler_(scheduler),
      client_(std::move(client)),
      footprint_(footprint),
      state_(std::make_shared<State>()) {
  state_->working = footprint.working;
}

Scheduler::Reservation::~Reservation() {
  scheduler_.Cancel(*this);
  Scheduler::State& all = *scheduler_.state_;
  std::lock_guard lock(all.mutex);
  --all.admitted;
  all.stored -= footprint_.stored;
  all.admitted_working.erase(all.admitted_working.find(footprint_.working));
  const auto client = all.clients.find(client_);
  if (--client->second.reservations == 0) all.clients.erase(client);
  all.StartWhatFits();
}

Scheduler::Scheduler(const Limits& limits, JobRunner runner, JobProbe& probe)
    : state_(std::make_unique<State>(limits, std::move(runner), probe)) {}

Scheduler::~Scheduler() = default;

Scheduler::Admission Scheduler::Admit(const std::string& client, Footprint footprint) {
  State& all = *state_;
  const auto refuse = [&](RejectReason reason, CallStatus status) {
    all.probe.Rejected(reason);
    return tl::unexpected<CallStatus>(std::move(status));
  };
  std::lock_guard lock(all.mutex);
  const uint64_t budget = all.limits.bytes_reserved;
  if (footprint.stored > budget || footprint.working > budget - footprint.stored) {
    return refuse(RejectReason::kTooLarge,
                  Refusal(Fail(Code::kTooLarge,
                               "the job needs about {} bytes for its blobs and {} to run; this "
                               "service has {} (--max-bytes-reserved)",
                               footprint.stored, footprint.working, budget)
                              .Field("spec.blobs")
                              .error(),
                          {}));
  }
  if (all.draining) return refuse(RejectReason::kDraining, Draining());
  const auto reservations = static_cast<uint64_t>(all.limits.workers) + all.limits.jobs_queued;
  if (static_cast<uint64_t>(all.admitted) >= reservations) {
    return refuse(
        RejectReason::kQueueFull,
        Refusal(Fail(Code::kResourceExhausted, "the queue is full: {} jobs", all.admitted).error(),
                all.RetryAfter()));
  }
  if (all.stored + footprint.stored + all.LargestWorkingWith(footprint.working) > budget) {
    return refuse(
        RejectReason::kMemory,
        Refusal(Fail(Code::kResourceExhausted,
                     "the job needs about {} bytes, but other jobs have reserved {} of {}",
                     footprint.stored + footprint.working, all.stored, budget)
                    .error(),
                all.RetryAfter()));
  }
  std::unique_ptr<Reservation> reservation(new Reservation(*this, client, footprint));
  reservation->position_ = static_cast<uint32_t>(all.admitted);
  ++all.admitted;
  ++all.clients[client].reservations;
  all.stored += footprint.stored;
  all.admitted_working.insert(footprint.working);
  return reservation;
}

void Scheduler::Submit(Reservation& reservation, Job job) {
  {
    std::lock_guard lock(state_->mutex);
    if (!state_->draining) {
      reservation.state_->job = std::move(job);
      reservation.state_->since = Clock::now();
      reservation.state_->stage = Reservation::State::Stage::kWaiting;
      state_->clients[reservation.client_].waiting.push_back(reservation.state_);
      ++state_->waiting;
      return state_->StartWhatFits();
    }
    state_->probe.Rejected(RejectReason::kDraining);
  }
  job.done(Forward(*Draining().error));
}

void Scheduler::Cancel(Reservation& reservation) {
  Job job;
  {
    std::lock_guard lock(state_->mutex);
    if (reservation.state_->stage == Reservation::State::Stage::kRunning)
      reservation.state_->stop.RequestStop();
    if (reservation.state_->stage != Reservation::State::Stage::kWaiting) return;
    auto& waiting = state_->clients[reservation.client_].waiting;
    waiting.erase(std::find(waiting.begin(), waiting.end(), reservation.state_));
    --state_->waiting;
    reservation.state_->stage = Reservation::State::Stage::kDone;
    job = std::move(reservation.state_->job);
  }
  job.done(Fail(Code::kCancelled, "cancelled before the job started"));
}

void Scheduler::Drain() {
  std::vector<Job> refused;
  {
    std::lock_guard lock(state_->mutex);
    state_->draining = true;
    for (auto& [name, client] : state_->clients) {
      for (const auto& reservation : client.waiting) {
        reservation->stage = Reservation::State::Stage::kDone;
        refused.push_back(std::move(reservation->job));
        state_->probe.Rejected(RejectReason::kDraining);
      }
      client.waiting.clear();
    }
    state_->waiting = 0;
  }
  for (Job& job : refused) job.done(Forward(*Draining().error));
}

bool Scheduler::draining() const {
  std::lock_guard lock(state_->mutex);
  return state_->draining;
}

void Scheduler::StopAll() {
  std::lock_guard lock(state_->mutex);
  for (const auto& reservation : state_->running) reservation->stop.RequestStop();
}

Occupancy Scheduler::Now() const {
  std::lock_guard lock(state_->mutex);
  auto oldest = Clock::now();
  const auto now = oldest;
  for (const auto& [name, client] : state_->clients) {
    for (const auto& reservation : client.waiting) oldest = std::min(oldest, reservation->since);
  }
  return {.slots = state_->limits.workers,
          .running = static_cast<int>(state_->running.size()),
          .waiting = state_->waiting,
          .oldest_wait_seconds = std::chrono::duration<double>(now - oldest).count(),
          .bytes_reserved = state_->stored + state_->working,
          .bytes_budget = state_->limits.bytes_reserved};
}

}  // namespace octavo::server
