// SPDX-License-Identifier: Apache-2.0
// Runs of jobs, each with all calls that wait for it.  Of equal jobs, one runs: a second one that
// comes while the first is queued or runs waits for the same result.  A call that ends leaves; the
// run is cancelled when the last one has left.  Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/pool/work_pool.h"
#include "server/session/results.h"
#include "server/session/scheduler.h"

namespace octavo::server {

using FinishedRun = Result<std::shared_ptr<const JobResult>>;

class Flights {
 public:
  Flights(Scheduler& scheduler, WorkPool& disk, JobProbe& probe);
  // Waits for runs that end.  No ticket may exist.
  ~Flights();

  // Keeps results there.  Call it before the first Run.
  void KeepIn(ResultCache& results);

  // Both are called from any thread, `progress` when Take has news and `ended` once.
  struct Waiter {
    std::function<void()> progress = {};
    std::function<void(FinishedRun)> ended = {};
  };

  // The place of one who waits.  Its destructor leaves: `ended` is not called afterwards, unless
  // its call has begun.  The run keeps its share of the scheduler while a ticket exists.
  class Ticket {
   public:
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    // The latest progress, if it is new to this waiter.
    std::optional<ProgressEvent> Take();
    uint32_t queue_position() const;
    // Whether the run was another's.
    bool joined() const { return joined_; }

   private:
    friend class Flights;
    struct Place;
    Ticket(Flights& flights, std::shared_ptr<Place> place, bool joined)
        : flights_(flights), place_(std::move(place)), joined_(joined) {}
    Flights& flights_;
    std::shared_ptr<Place> place_;
    const bool joined_;
  };

  // Null if no run of the action is under way.
  std::unique_ptr<Ticket> Join(const std::string& action, Waiter waiter);
  // Joins the run of the action, or queues one and keeps its result.  An empty action neither joins
  // nor is joined, and its result is not kept.  If it is refused, `ended` is not called.
  using Start = tl::expected<std::unique_ptr<Ticket>, CallStatus>;
  Start Run(const std::string& action, std::unique_ptr<Scheduler::Reservation> reservation,
            job::Request request, int priority, Waiter waiter);

 private:
  struct State;
  struct Flight;
  std::unique_ptr<Ticket> Board(const std::shared_ptr<Flight>& flight, Waiter waiter, bool joined);
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
