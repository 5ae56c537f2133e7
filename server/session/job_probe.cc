// SPDX-License-Identifier: Apache-2.0
#include "server/session/job_probe.h"

namespace octavo::server {

std::string_view NameOf(RejectReason reason) {
  switch (reason) {
    case RejectReason::kQueueFull:
      return "queue_full";
    case RejectReason::kMemory:
      return "memory";
    case RejectReason::kTooLarge:
      return "too_large";
    case RejectReason::kDraining:
      return "draining";
    case RejectReason::kUploads:
      return "uploads";
  }
  return "queue_full";
}

std::string_view NameOf(JobSource source) {
  switch (source) {
    case JobSource::kExecuted:
      return "executed";
    case JobSource::kCache:
      return "cache";
    case JobSource::kJoined:
      return "joined";
  }
  return "executed";
}

std::string_view NameOf(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::kSucceeded:
      return "succeeded";
    case JobOutcome::kInvalid:
      return "invalid";
    case JobOutcome::kFailed:
      return "failed";
    case JobOutcome::kCrashed:
      return "crashed";
    case JobOutcome::kCancelled:
      return "cancelled";
    case JobOutcome::kDeadline:
      return "deadline";
  }
  return "failed";
}

JobOutcome OutcomeOf(const std::optional<Error>& error) {
  if (!error) return JobOutcome::kSucceeded;
  if (error->reason == "WORKER_CRASHED") return JobOutcome::kCrashed;
  // The estimate of its memory is the service's.
  if (error->reason == "JOB_MEMORY") return JobOutcome::kFailed;
  switch (error->code) {
    case Code::kInvalidArgument:
    case Code::kUsage:
    case Code::kUnimplemented:
    case Code::kTooLarge:
      return JobOutcome::kInvalid;
    case Code::kCancelled:
      return JobOutcome::kCancelled;
    case Code::kDeadlineExceeded:
      return JobOutcome::kDeadline;
    default:
      return JobOutcome::kFailed;
  }
}

bool IsRefusal(const std::optional<Error>& error) {
  return error && (error->reason == "OVERLOADED" || error->reason == "DRAINING");
}

}  // namespace octavo::server
