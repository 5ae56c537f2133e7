// SPDX-License-Identifier: Apache-2.0
// One worker from its Hello to its end.  Used by one thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/job/job.h"
#include "server/session/worker_probe.h"
#include "server/worker/child.h"
#include "server/worker/frames.h"
#include "server/worker/wire.h"

namespace octavo::server::worker {

class Conversation {
 public:
  explicit Conversation(std::unique_ptr<Child> child)
      : child_(std::move(child)), reader_(child_->socket(), FrameReader::Descriptors::kRefuse) {}

  // Waits for Hello.
  Result<v1::Hello> Greeting(std::chrono::milliseconds timeout);
  // Sends the request, relays progress, and waits for the answer and for the end of the process.
  // `folder` is where the output file is created.
  Result<job::Outcome> Run(const job::Request& request, const ChildLimits& limits,
                           const std::string& folder, const StopToken& stop,
                           const job::Observer& observer);

  const Child& child() const { return *child_; }
  // Why the worker ended; kIdle before Run.
  Cause cause() const { return cause_; }
  // Whether the worker has reported a stage of its job.
  bool began() const { return !stage_.empty(); }
  // Kills the process if it has not ended.
  const Exit& Reap();

 private:
  using Clock = std::chrono::steady_clock;
  using Answer = std::optional<v1::FromWorker>;  // empty: the process ended without one

  Status Send(const job::Request& request, const Descriptor& output);
  Result<Answer> Listen(const StopToken& stop, const job::Observer& observer);
  Result<Answer> TakeFrames(const job::Observer& observer);
  Status Relay(const v1::Progress& progress, const job::Observer& observer);
  // What the worker says that its job needs lowers its limit, and never raises it.
  Status TakeEstimate(int64_t bytes);
  // False if the worker had its time to stop.
  bool AskToStop(const StopToken& stop);
  Error WhyEnded(const StopToken& stop);
  Error Crash(std::string what);
  std::string Place() const;
  void TakeLastWords(const v1::LastWords& words);

  std::unique_ptr<Child> child_;
  FrameReader reader_;
  Cause cause_ = Cause::kIdle;
  ChildLimits limits_ = {};
  int64_t most_estimated_ = 0;  // an honest worker refuses a job whose estimate is higher
  std::optional<int64_t> estimate_;
  std::string stage_;
  std::string pass_;
  std::string node_;  // of the worker's last words
  std::optional<Clock::time_point> kill_at_;
  Clock::time_point second_begun_ = {};
  int frames_in_second_ = 0;
  bool open_ = true;
};

}  // namespace octavo::server::worker
