// SPDX-License-Identifier: Apache-2.0
// Admits jobs and selects the next job to run.  Admission counts jobs and estimated bytes and
// depends only on the declared sizes.  A job starts when a slot and its bytes are free.  Scheduling
// is round-robin over clients and FIFO within one client.  Thread-safe.
//
// Every admitted job can run: the stored bytes of all admitted jobs plus the working bytes of the
// largest one never exceed the budget.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/job/job.h"
#include "server/pool/work_pool.h"
#include "server/session/event.h"
#include "server/session/job_probe.h"
#include "server/session/limits.h"

namespace octavo::server {

using JobRunner = std::function<Result<job::Outcome>(const job::Request&, const StopToken&,
                                                     const job::Observer&)>;

class Scheduler {
 public:
  struct Job {
    job::Request request = {};
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
    job::Observer observer = {};
    // Called once, from any thread.
    std::function<void(Result<job::Outcome>)> done = {};
  };

  // One job's share of the queue and of the memory budget, released by its destructor.
  //
  //   Admit           Submit          slot and bytes free         runner returned
  //   ------> kUploading ---> kWaiting ----------------> kRunning ----------------> kDone
  //                              |                                                    ^
  //                              +---- Cancel or Drain: the job never starts ---------+
  class Reservation {
   public:
    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    uint32_t queue_position() const { return position_; }

   private:
    friend class Scheduler;
    struct State;
    Reservation(Scheduler& scheduler, std::string client, Footprint footprint);
    Scheduler& scheduler_;
    std::string client_;
    Footprint footprint_;
    uint32_t position_ = 0;
    std::shared_ptr<State> state_;
  };
  using Admission = tl::expected<std::unique_ptr<Reservation>, CallStatus>;

  Scheduler(const Limits& limits, JobRunner runner, JobProbe& probe);
  // Waits for running jobs.
  ~Scheduler();

  Admission Admit(const std::string& client, Footprint footprint);
  // Queues the job.  If the scheduler is draining, it calls `done` with DRAINING.
  void Submit(Reservation& reservation, Job job);
  // A waiting job never starts; for a running job it sets the stop token.  `done` is still called.
  void Cancel(Reservation& reservation);
  // Refuses new jobs and ends waiting jobs with DRAINING.
  void Drain();
  bool draining() const;
  // Sets the stop token of every running job.
  void StopAll();
  Occupancy Now() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// UNAVAILABLE with reason DRAINING and a retry after one second.
CallStatus Draining();

}  // namespace octavo::server
