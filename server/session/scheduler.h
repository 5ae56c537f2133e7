// Decides which jobs are let in and which runs next.  Admission counts jobs and estimated bytes
// and answers from the declared sizes alone; a job starts with a free slot and its bytes, clients
// taking turns and each client's jobs in order of arrival.  Thread-safe.
//
// Whoever was admitted can run: the bytes stored for all of them plus the working bytes of the
// hungriest never exceed the budget.
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

  // An admitted job's claim on a place and on bytes; given back when it is destroyed.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    uint32_t position() const { return position_; }

   private:
    friend class Scheduler;
    struct State;
    Place(Scheduler& scheduler, std::string client, Footprint footprint);
    Scheduler& scheduler_;
    std::string client_;
    Footprint footprint_;
    uint32_t position_ = 0;
    std::shared_ptr<State> state_;
  };
  using Admission = tl::expected<std::unique_ptr<Place>, Ending>;

  Scheduler(const Limits& limits, JobRunner runner, JobProbe& probe);
  // Waits for running jobs.
  ~Scheduler();

  Admission Admit(const std::string& client, Footprint footprint);
  // Runs the job now or in its turn; a draining scheduler refuses it through `done`.
  void Submit(Place& place, Job job);
  // A waiting job never starts; a running one is asked to stop.  `done` is still called.
  void Cancel(Place& place);
  // Admits nothing more and refuses jobs that wait.
  void Drain();
  bool draining() const;
  // Asks everything that runs to stop.
  void StopAll();
  Occupancy Now() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The ending of a job that meets a service about to stop.
Ending Draining();

}  // namespace octavo::server
