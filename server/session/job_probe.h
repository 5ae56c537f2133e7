// SPDX-License-Identifier: Apache-2.0
// The observer of jobs, for metrics.  Thread-safe; implementations must return quickly.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/job/job.h"

namespace octavo::server {

enum class RejectReason { kQueueFull, kMemory, kTooLarge, kDraining, kUploads };
inline constexpr RejectReason kRejectReasons[] = {RejectReason::kQueueFull, RejectReason::kMemory,
                                                  RejectReason::kTooLarge, RejectReason::kDraining,
                                                  RejectReason::kUploads};
enum class JobOutcome { kSucceeded, kFailed, kCancelled };

// "queue_full", "memory", "too_large", "draining", "uploads"
std::string_view NameOf(RejectReason reason);
// "succeeded", "failed", "cancelled"
std::string_view NameOf(JobOutcome outcome);

class JobProbe {
 public:
  virtual ~JobProbe() = default;
  virtual void Rejected(RejectReason reason) = 0;
  virtual void WaitedInQueue(double seconds) = 0;
  // `stage` is one of job::Progress::stage.
  virtual void StageTook(std::string_view stage, double seconds) = 0;
  // An admitted job ended; `seconds` runs from the start of its call to its last byte.
  virtual void Ended(JobOutcome outcome, double seconds) = 0;
  virtual void Computed(const job::Outcome& outcome) = 0;
  virtual void Uploaded(uint64_t bytes) = 0;
  virtual void Downloaded(uint64_t bytes) = 0;
};

// The scheduler's current load.
struct Occupancy {
  int slots = 0;
  int running = 0;
  int waiting = 0;
  int uploads = 0;
  double oldest_wait_seconds = 0;
  uint64_t bytes_reserved = 0;
  uint64_t bytes_budget = 0;
};

}  // namespace octavo::server
