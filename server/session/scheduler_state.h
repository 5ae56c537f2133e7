// SPDX-License-Identifier: Apache-2.0
// What the scheduler keeps.  For scheduler.cc and admission.cc only.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "server/session/scheduler.h"

namespace octavo::server {

// The scheduler's mutex guards it.
struct Scheduler::Reservation::State {
  enum class Stage { kUploading, kWaiting, kRunning, kDone };
  Stage stage = Stage::kUploading;
  std::string client = {};
  Footprint footprint = {};
  uint64_t stored = 0;
  bool submitted = false;
  Job job = {};
  StopToken stop = {};
  std::chrono::steady_clock::time_point since = {};
};

struct Scheduler::State {
  using ReservationState = Reservation::State;
  using Stage = ReservationState::Stage;
  // Exists while the client has an upload or a job.
  struct Client {
    std::deque<std::shared_ptr<ReservationState>> waiting = {};
    uint64_t next_turn = 0;  // of the first job that waits
    uint64_t uploads = 0;
    uint64_t jobs = 0;  // waiting and running
    uint64_t stored = 0;
  };

  State(const Limits& given, JobRunner run, JobProbe& observer)
      : limits(given), runner(std::move(run)), probe(observer), workers(given.workers) {}

  const Limits limits;
  const JobRunner runner;
  JobProbe& probe;

  mutable std::mutex mutex;
  std::map<std::string, Client> clients;
  std::set<std::shared_ptr<ReservationState>> running;
  std::multiset<uint64_t> working_of_jobs;
  uint64_t uploads = 0;
  uint64_t waiting = 0;
  uint64_t undelivered = 0;  // submitted jobs whose reservations exist
  uint64_t stored = 0;
  uint64_t working = 0;
  uint64_t turn = 0;        // of the job that started last
  double mean_seconds = 1;  // exponential moving average of run times
  bool draining = false;
  std::condition_variable ended;
  WorkPool workers;  // last: its destructor waits for jobs that use the other members

  uint64_t jobs() const { return waiting + running.size(); }
  uint64_t LargestWorkingWith(uint64_t bytes) const {
    return working_of_jobs.empty() ? bytes : std::max(bytes, *working_of_jobs.rbegin());
  }
  std::chrono::milliseconds RetryAfter() const;
  std::optional<CallStatus> CheckUpload(const std::string& client, const Footprint& footprint);
  std::optional<CallStatus> CheckPlace(const std::string& client);
  std::optional<CallStatus> CheckBytes(uint64_t more, uint64_t largest_working);
  void Leave(ReservationState& reservation);
  std::shared_ptr<ReservationState> TakeNext();
  void StartWhatFits();
  void Run(const std::shared_ptr<ReservationState>& reservation);
  CallStatus Refuse(RejectReason reason, Error error);
};

}  // namespace octavo::server
