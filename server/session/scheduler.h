// SPDX-License-Identifier: Apache-2.0
// Admits uploads and jobs and selects the next job to run.  Thread-safe.
//
// An upload takes one of the places for uploads and reserves the bytes that have arrived.  A
// complete upload becomes a job, which takes one of the places for jobs until it has run.  A client
// may hold at most as many places and bytes as are free, so the first gets half and there is room
// for another.
//
// Every queued job can run: the stored bytes of all uploads and jobs plus the working bytes of the
// largest job never exceed the budget.  A job starts when a slot and its bytes are free.  Clients
// take turns, and each client's jobs run in order of priority, then of arrival.
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
    int priority = 0;  // among the client's own jobs; the highest runs first
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
    job::Observer observer = {};
    // Called once, from any thread.
    std::function<void(Result<job::Outcome>)> done = {};
  };

  // The share of one upload, then of its job, in places and bytes.  The destructor ends an upload
  // and cancels a job; a running job keeps its share until it has ended.
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
    Reservation(Scheduler& scheduler, std::shared_ptr<State> state, uint32_t position)
        : scheduler_(scheduler), state_(std::move(state)), position_(position) {}
    Scheduler& scheduler_;
    std::shared_ptr<State> state_;
    uint32_t position_ = 0;
  };
  using Admission = tl::expected<std::unique_ptr<Reservation>, CallStatus>;
  using Refusable = tl::expected<void, CallStatus>;

  Scheduler(const Limits& limits, JobRunner runner, JobProbe& probe);
  // Waits for running jobs.
  ~Scheduler();

  // Starts an upload.  `footprint` is the estimate from the declared sizes: a job that can never
  // fit, or does not fit now, is refused here, before its upload.
  // `on_drain` is called if the service drains during the upload; it must return quickly.
  Admission Admit(const std::string& client, Footprint footprint,
                  std::function<void()> on_drain = {});
  // Reserves `bytes` more, which have arrived.
  Refusable Store(Reservation& reservation, uint64_t bytes);
  // Queues the job of a complete upload.  If it is refused, `done` is not called.
  Refusable Submit(Reservation& reservation, Job job);
  // A waiting job never starts; for a running job it sets the stop token.  `done` is still called.
  void Cancel(Reservation& reservation);
  // Refuses new jobs, tells uploads, and ends waiting jobs with DRAINING.
  void Drain();
  bool draining() const;
  // Waits until no job runs and every result has been sent; false if the deadline comes first.
  bool WaitForJobs(std::chrono::steady_clock::time_point deadline) const;
  // Sets the stop token of every running job.
  void StopAll();
  Occupancy Now() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// UNAVAILABLE with reason DRAINING and a retry after one second.
CallStatus Draining();
// DEADLINE_EXCEEDED with reason CLIENT_DEADLINE.
Error ClientDeadline();

}  // namespace octavo::server
