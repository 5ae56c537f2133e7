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

#include "server/session/retry_times.h"
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
  bool client_deadline = false;  // comes before the service's
  bool cancelled = false;
  std::optional<uint64_t> needs = {};  // of a job that stops to wait for so many working bytes
  std::function<void()> on_drain = {};
  Job job = {};
  StopToken stop = {};
  std::chrono::steady_clock::time_point since = {};  // the upload's begin, then the job's
  std::optional<std::chrono::steady_clock::time_point> told_to_stop = {};

  // Of a running job.
  void Stop() {
    if (!told_to_stop) told_to_stop = std::chrono::steady_clock::now();
    stop.RequestStop();
  }
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
      : limits(given),
        runner(std::move(run)),
        probe(observer),
        retry_of_jobs(static_cast<uint64_t>(given.workers)),
        retry_of_uploads(given.uploads),
        workers(given.workers) {}

  const Limits limits;
  const JobRunner runner;
  JobProbe& probe;

  mutable std::mutex mutex;
  std::map<std::string, Client> clients;
  std::set<std::shared_ptr<ReservationState>> running;
  std::multiset<uint64_t> working_of_jobs;
  std::set<std::shared_ptr<ReservationState>> uploads;
  uint64_t waiting = 0;
  uint64_t undelivered = 0;  // submitted jobs whose reservations exist
  uint64_t stored = 0;
  uint64_t working = 0;
  uint64_t turn = 0;  // of the job that started last
  RetryTimes retry_of_jobs;
  RetryTimes retry_of_uploads;
  bool draining = false;
  bool drain_timeout = false;
  std::condition_variable ended;
  WorkPool workers;  // last: its destructor waits for jobs that use the other members

  uint64_t jobs() const { return waiting + running.size(); }
  uint64_t LargestWorkingWith(uint64_t bytes) const {
    return working_of_jobs.empty() ? bytes : std::max(bytes, *working_of_jobs.rbegin());
  }
  std::optional<CallStatus> CheckUpload(const std::string& client, const Footprint& footprint);
  std::optional<CallStatus> CheckPlace(const std::string& client);
  std::optional<CallStatus> CheckBytes(const std::string& client, uint64_t more,
                                       uint64_t largest_working);
  // How many clients have jobs, `client` included.
  uint64_t ClientsWithJobs(const std::string& client) const;
  void SetWorking(ReservationState& reservation, uint64_t bytes);
  void Learn(const std::shared_ptr<ReservationState>& reservation, uint64_t estimate);
  Status QueueAgain(const std::shared_ptr<ReservationState>& reservation, Job& job);
  void Leave(const std::shared_ptr<ReservationState>& reservation);
  Error CauseOf(const ReservationState& reservation, Error error) const;
  std::shared_ptr<ReservationState> TakeNext();
  void StartWhatFits();
  void Run(const std::shared_ptr<ReservationState>& reservation);
  // With the time to ask again, for `client` or, of its share, for one of `sharing` clients.
  CallStatus Refuse(RejectReason reason, Error error, const std::string& client,
                    uint64_t sharing = 1);
};

}  // namespace octavo::server
