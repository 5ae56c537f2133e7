// SPDX-License-Identifier: Apache-2.0
// Passes the latest progress of a job from the job's thread to the session.  A new event replaces
// the previous one, so a slow client costs no memory.  It also measures the duration of each stage.
// Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/job/job.h"
#include "server/session/event.h"
#include "server/session/job_probe.h"

namespace octavo::server {

class ProgressSlot {
 public:
  // The slot calls `wake` when it becomes full.
  ProgressSlot(JobProbe& probe, std::function<void()> wake)
      : probe_(probe), wake_(std::move(wake)) {}

  void Put(const job::Progress& progress);
  // Ends the last stage.
  void Close();
  std::optional<ProgressEvent> Take();

 private:
  using Clock = std::chrono::steady_clock;
  void EndStage(Clock::time_point now);

  JobProbe& probe_;
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::optional<ProgressEvent> latest_;
  std::string stage_;
  Clock::time_point stage_begun_ = {};
};

}  // namespace octavo::server
