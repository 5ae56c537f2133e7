// SPDX-License-Identifier: Apache-2.0
#include "server/session/scheduler.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "server/session/scheduler_state.h"

namespace octavo::server {

using Clock = std::chrono::steady_clock;

namespace {

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

// Gives back what the upload or the job holds.
void Scheduler::State::Leave(const std::shared_ptr<ReservationState>& reservation) {
  if (reservation->stage == Stage::kDone) return;
  const auto at = clients.find(reservation->client);
  Client& client = at->second;
  if (uploads.erase(reservation) > 0) {
    --client.uploads;
    retry_of_uploads.Held(std::chrono::duration<double>(Clock::now() - reservation->since).count());
  } else {
    --client.jobs;
    working_of_jobs.erase(working_of_jobs.find(reservation->footprint.working));
  }
  stored -= reservation->stored;
  client.stored -= reservation->stored;
  reservation->stage = Stage::kDone;
  if (client.uploads == 0 && client.jobs == 0) clients.erase(at);
}

// The stop token knows that it stopped the job, but not why.
Error Scheduler::State::CauseOf(const ReservationState& reservation, Error error) const {
  if (error.code == Code::kCancelled && drain_timeout) {
    return Fail(Code::kDeadlineExceeded, "the service shut down before the job was done")
        .Reason("DRAIN_TIMEOUT")
        .error();
  }
  if (error.code != Code::kDeadlineExceeded) return error;
  if (reservation.client_deadline) return ClientDeadline();
  return Fail(Code::kDeadlineExceeded,
              "the job ran for {} s, the most that this service allows "
              "(--job-timeout)",
              std::chrono::duration<double>(limits.job_timeout).count())
      .Reason("JOB_TIMEOUT")
      .error();
}

// Returns the next job of the client whose turn comes first.  Returns null until that job's bytes
// are free: smaller jobs must not overtake a large one forever.
std::shared_ptr<Scheduler::Reservation::State> Scheduler::State::TakeNext() {
  Client* next = nullptr;
  for (auto& [name, client] : clients) {
    if (client.waiting.empty()) continue;
    const auto key = [](const Client& c) { return std::pair(c.next_turn, c.waiting[0]->since); };
    if (next == nullptr || key(client) < key(*next)) next = &client;
  }
  if (next == nullptr) return nullptr;
  auto reservation = next->waiting.front();
  if (stored + working + reservation->footprint.working > limits.bytes_reserved) return nullptr;
  next->waiting.pop_front();
  turn = next->next_turn;
  next->next_turn += 2;
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
    reservation->client_deadline =
        reservation->job.deadline && *reservation->job.deadline < deadline;
    if (reservation->client_deadline) deadline = *reservation->job.deadline;
    reservation->stop = StopToken(deadline);
    reservation->stage = Stage::kRunning;
    working += reservation->footprint.working;
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
    const auto most = static_cast<int64_t>(limits.bytes_reserved - reservation->stored);
    int64_t& limit = job.request.limits.memory_bytes;
    limit = limit == 0 ? most : std::min(limit, most);
  }
  const auto begin = Clock::now();
  const job::Observer observer = [&](const job::Progress& progress) {
    if (progress.memory_bytes > 0) Learn(reservation, progress.memory_bytes);
    if (job.observer) job.observer(progress);
  };
  auto outcome = RunGuarded(runner, job.request, reservation->stop, observer);
  {
    std::lock_guard lock(mutex);
    working -= reservation->footprint.working;
    running.erase(reservation);
    const bool stopped = !outcome && outcome.error().code == Code::kCancelled;
    if (stopped && reservation->needs && !reservation->cancelled) {
      const auto queued = QueueAgain(reservation, job);
      StartWhatFits();
      if (queued) return;
      outcome = Forward(Error(queued.error()));
    }
  }
  job.request = {};
  {
    std::lock_guard lock(mutex);
    if (reservation->told_to_stop) {
      probe.CancelTook(
          std::chrono::duration<double>(Clock::now() - *reservation->told_to_stop).count());
    }
    retry_of_jobs.Held(std::chrono::duration<double>(Clock::now() - begin).count());
    Leave(reservation);
    StartWhatFits();
    if (!outcome) outcome = Forward(CauseOf(*reservation, std::move(outcome).error()));
  }
  job.done(std::move(outcome));
  ended.notify_all();
}

Scheduler::Reservation::~Reservation() {
  scheduler_.Cancel(*this);
  Scheduler::State& all = *scheduler_.state_;
  {
    std::lock_guard lock(all.mutex);
    if (state_->submitted) --all.undelivered;
    if (state_->stage == State::Stage::kUploading) all.Leave(state_);
    all.StartWhatFits();
  }
  all.ended.notify_all();
}

Scheduler::Scheduler(const Limits& limits, JobRunner runner, JobProbe& probe)
    : state_(std::make_unique<State>(limits, std::move(runner), probe)) {}

Scheduler::~Scheduler() = default;

Scheduler::Admission Scheduler::Admit(const std::string& client, Footprint footprint,
                                      std::function<void()> on_drain) {
  State& all = *state_;
  std::lock_guard lock(all.mutex);
  if (auto refusal = all.CheckUpload(client, footprint)) {
    const auto at = all.clients.find(client);
    if (at != all.clients.end() && at->second.uploads + at->second.jobs == 0) all.clients.erase(at);
    return tl::unexpected<CallStatus>(std::move(*refusal));
  }
  auto state = std::make_shared<Reservation::State>();
  state->client = client;
  state->footprint = footprint;
  state->since = Clock::now();
  state->on_drain = std::move(on_drain);
  all.uploads.insert(state);
  ++all.clients[client].uploads;
  return std::unique_ptr<Reservation>(
      new Reservation(*this, std::move(state), static_cast<uint32_t>(all.jobs())));
}

Scheduler::Refusable Scheduler::Store(Reservation& reservation, uint64_t bytes) {
  State& all = *state_;
  std::lock_guard lock(all.mutex);
  Reservation::State& upload = *reservation.state_;
  State::Client& client = all.clients[upload.client];
  if (auto refusal = all.CheckBytes(upload.client, bytes, all.LargestWorkingWith(0))) {
    return tl::unexpected<CallStatus>(std::move(*refusal));
  }
  // A client's only upload may take all that is free, so that the largest job fits.
  const uint64_t free = all.limits.bytes_reserved - all.stored;
  if (client.stored > upload.stored && client.stored + bytes > free) {
    return tl::unexpected<CallStatus>(
        all.Refuse(RejectReason::kMemory,
                   Fail(Code::kResourceExhausted,
                        "this client has stored {} bytes; the {} that are free are for other "
                        "clients",
                        client.stored, free)
                       .error(),
                   upload.client, all.ClientsWithJobs(upload.client)));
  }
  upload.stored += bytes;
  client.stored += bytes;
  all.stored += bytes;
  return {};
}

// A client that had no job takes the next turn before the clients that have just had theirs (their
// next is two later), and after jobs that have waited for that turn.  So each job waits for a
// bounded number of others, however many clients come.
Scheduler::Refusable Scheduler::Submit(Reservation& reservation, Job job) {
  State& all = *state_;
  std::lock_guard lock(all.mutex);
  Reservation::State& upload = *reservation.state_;
  if (all.draining) return tl::unexpected<CallStatus>(Draining());  // Drain has counted it
  auto refusal = all.CheckPlace(upload.client);
  if (!refusal)
    refusal = all.CheckBytes(upload.client, 0, all.LargestWorkingWith(upload.footprint.working));
  if (refusal) return tl::unexpected<CallStatus>(std::move(*refusal));
  State::Client& client = all.clients[upload.client];
  all.uploads.erase(reservation.state_);
  --client.uploads;
  ++client.jobs;
  ++all.waiting;
  ++all.undelivered;
  all.working_of_jobs.insert(upload.footprint.working);
  if (client.waiting.empty()) client.next_turn = std::max(client.next_turn, all.turn + 1);
  upload.submitted = true;
  upload.job = std::move(job);
  const auto now = Clock::now();
  all.retry_of_uploads.Held(std::chrono::duration<double>(now - upload.since).count());
  upload.since = now;
  upload.stage = State::Stage::kWaiting;
  const auto place =
      std::find_if(client.waiting.begin(), client.waiting.end(),
                   [&](const auto& other) { return other->job.priority < upload.job.priority; });
  client.waiting.insert(place, reservation.state_);
  all.StartWhatFits();
  return {};
}

void Scheduler::Cancel(Reservation& reservation) {
  Job job;
  {
    std::lock_guard lock(state_->mutex);
    Reservation::State& state = *reservation.state_;
    if (state.stage == State::Stage::kRunning) {
      state.cancelled = true;
      state.Stop();
    }
    if (state.stage != State::Stage::kWaiting) return;
    auto& waiting = state_->clients[state.client].waiting;
    waiting.erase(std::find(waiting.begin(), waiting.end(), reservation.state_));
    --state_->waiting;
    job = std::move(state.job);
    state_->Leave(reservation.state_);
    state_->StartWhatFits();
  }
  job.done(Fail(Code::kCancelled, "cancelled before the job started"));
}

void Scheduler::Drain() {
  std::vector<Job> refused;
  std::vector<std::function<void()>> uploads;
  {
    std::lock_guard lock(state_->mutex);
    state_->draining = true;
    for (const auto& upload : state_->uploads) {
      if (upload->on_drain) uploads.push_back(upload->on_drain);
      state_->probe.Rejected(RejectReason::kDraining);
    }
    std::vector<std::shared_ptr<Reservation::State>> waiting;
    for (auto& [name, client] : state_->clients) {
      waiting.insert(waiting.end(), client.waiting.begin(), client.waiting.end());
      client.waiting.clear();
    }
    for (const auto& reservation : waiting) {
      refused.push_back(std::move(reservation->job));
      state_->Leave(reservation);
      state_->probe.Rejected(RejectReason::kDraining);
    }
    state_->waiting = 0;
  }
  for (const auto& tell : uploads) tell();
  for (Job& job : refused) job.done(Forward(*Draining().error));
}

bool Scheduler::WaitForJobs(Clock::time_point deadline) const {
  std::unique_lock lock(state_->mutex);
  return state_->ended.wait_until(
      lock, deadline, [this] { return state_->running.empty() && state_->undelivered == 0; });
}

bool Scheduler::draining() const {
  std::lock_guard lock(state_->mutex);
  return state_->draining;
}

void Scheduler::StopAll() {
  std::lock_guard lock(state_->mutex);
  state_->drain_timeout = state_->draining;
  for (const auto& reservation : state_->running) reservation->Stop();
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
          .waiting = static_cast<int>(state_->waiting),
          .uploads = static_cast<int>(state_->uploads.size()),
          .oldest_wait_seconds = std::chrono::duration<double>(now - oldest).count(),
          .bytes_reserved = state_->stored + state_->working,
          .bytes_budget = state_->limits.bytes_reserved};
}

}  // namespace octavo::server
