// SPDX-License-Identifier: Apache-2.0
// The estimate that a running job makes of its graph replaces the one made of its files.
#include <algorithm>
#include <utility>

#include "server/session/scheduler_state.h"

namespace octavo::server {

// The caller holds the mutex.
void Scheduler::State::SetWorking(ReservationState& reservation, uint64_t bytes) {
  working_of_jobs.erase(working_of_jobs.find(reservation.footprint.working));
  working_of_jobs.insert(bytes);
  reservation.footprint.working = bytes;
}

// The job goes on if its bytes are free.  Else it stops, and starts again when they are.
void Scheduler::State::Learn(const std::shared_ptr<ReservationState>& reservation,
                             uint64_t estimate) {
  const std::lock_guard lock(mutex);
  if (reservation->needs) return;
  const uint64_t bytes = std::min(estimate, limits.bytes_reserved - reservation->stored);
  const uint64_t others = stored + working - reservation->footprint.working;
  if (bytes > reservation->footprint.working && others + bytes > limits.bytes_reserved) {
    reservation->needs = bytes;
    reservation->stop.RequestStop();
    return;
  }
  working = working - reservation->footprint.working + bytes;
  SetWorking(*reservation, bytes);
  StartWhatFits();
}

// The caller holds the mutex.  Queues a job that stopped for want of memory before all others of
// its client.  Every queued job can run, so one that the bytes of other uploads keep from it is
// refused.
Status Scheduler::State::QueueAgain(const std::shared_ptr<ReservationState>& reservation,
                                    Job& job) {
  const uint64_t bytes = *std::exchange(reservation->needs, std::nullopt);
  if (draining) return Forward(*Draining().error);
  if (CheckBytes(reservation->client, 0, LargestWorkingWith(bytes))) {
    return Fail(Code::kResourceExhausted,
                "the job needs about {} bytes to run, and uploads hold {} of {}", bytes, stored,
                limits.bytes_reserved)
        .Reason("OVERLOADED");
  }
  SetWorking(*reservation, bytes);
  Client& client = clients[reservation->client];
  client.waiting.push_front(reservation);
  client.next_turn = turn;
  ++waiting;
  reservation->job = std::move(job);
  reservation->since = std::chrono::steady_clock::now();
  reservation->stage = Stage::kWaiting;
  return {};
}

}  // namespace octavo::server
