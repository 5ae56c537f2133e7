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

std::string_view NameOf(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::kSucceeded:
      return "succeeded";
    case JobOutcome::kFailed:
      return "failed";
    case JobOutcome::kCancelled:
      return "cancelled";
  }
  return "failed";
}

}  // namespace octavo::server
