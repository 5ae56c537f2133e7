// SPDX-License-Identifier: Apache-2.0
// The observer of jobs, for metrics.  Thread-safe; implementations must return quickly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/status.h"
#include "core/job/job.h"
#include "server/store/result_cache.h"

namespace octavo::server {

enum class RejectReason { kQueueFull, kMemory, kTooLarge, kDraining, kUploads };
inline constexpr RejectReason kRejectReasons[] = {RejectReason::kQueueFull, RejectReason::kMemory,
                                                  RejectReason::kTooLarge, RejectReason::kDraining,
                                                  RejectReason::kUploads};
// Where a job's result is from: its own run, an equal job's kept result, an equal job's run.
enum class JobSource { kExecuted, kCache, kJoined };
inline constexpr JobSource kJobSources[] = {JobSource::kExecuted, JobSource::kCache,
                                            JobSource::kJoined};
enum class JobOutcome {
  kSucceeded,
  kInvalid,  // the request is wrong or too large: no service would run it
  kFailed,
  kCrashed,  // its worker
  kCancelled,
  kDeadline,  // of the client, the service, the upload or the drain
};
inline constexpr JobOutcome kJobOutcomes[] = {JobOutcome::kSucceeded, JobOutcome::kInvalid,
                                              JobOutcome::kFailed,    JobOutcome::kCrashed,
                                              JobOutcome::kCancelled, JobOutcome::kDeadline};

// "queue_full", "memory", "too_large", "draining", "uploads"
std::string_view NameOf(RejectReason reason);
// "executed", "cache", "joined"
std::string_view NameOf(JobSource source);
// "succeeded", "invalid", "failed", "crashed", "cancelled", "deadline"
std::string_view NameOf(JobOutcome outcome);
// Of a job that ended with `error`, or without.
JobOutcome OutcomeOf(const std::optional<Error>& error);
// Whether it was refused for now, by load or shutdown: it counts as rejected and not as ended.
bool IsRefusal(const std::optional<Error>& error);

class JobProbe {
 public:
  virtual ~JobProbe() = default;
  virtual void Rejected(RejectReason reason) = 0;
  virtual void WaitedInQueue(double seconds) = 0;
  // A running job was told to stop and has ended `seconds` later.
  virtual void CancelTook(double seconds) = 0;
  // `stage` is one of job::Progress::stage.
  virtual void StageTook(std::string_view stage, double seconds) = 0;
  // A job that was admitted, or whose result was kept, ended; `seconds` runs from the start of its
  // call to its last byte.
  virtual void Ended(JobOutcome outcome, JobSource source, double seconds) = 0;
  // Jobs that an earlier process had acknowledged and not ended.
  virtual void Recovered(size_t jobs) = 0;
  virtual void CacheAsked(CacheAnswer answer) = 0;
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
