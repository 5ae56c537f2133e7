// SPDX-License-Identifier: Apache-2.0
// Which uploads and jobs the scheduler refuses.
#include <algorithm>
#include <utility>

#include "server/session/scheduler_state.h"

namespace octavo::server {
namespace {

CallStatus Refusal(Error error, std::optional<std::chrono::milliseconds> retry_after) {
  return {.error = std::move(error), .retry_after = retry_after};
}

}  // namespace

CallStatus Draining() {
  return Refusal(
      Fail(Code::kUnavailable, "the service is shutting down").Reason("DRAINING").error(),
      std::chrono::seconds(1));
}

// The expected time until the queue advances by one job.
std::chrono::milliseconds Scheduler::State::RetryAfter() const {
  const double seconds = mean_seconds / limits.workers;
  return std::chrono::milliseconds(static_cast<int64_t>(std::clamp(seconds, 0.2, 60.0) * 1000));
}

CallStatus Scheduler::State::Refuse(RejectReason reason, Error error) {
  probe.Rejected(reason);
  const bool may_fit = error.code == Code::kResourceExhausted;
  return Refusal(std::move(error), may_fit ? std::optional(RetryAfter()) : std::nullopt);
}

std::optional<CallStatus> Scheduler::State::CheckUpload(const std::string& client,
                                                        const Footprint& footprint) {
  const uint64_t budget = limits.bytes_reserved;
  if (footprint.stored > budget || footprint.working > budget - footprint.stored) {
    return Refuse(RejectReason::kTooLarge,
                  Fail(Code::kTooLarge,
                       "the job needs about {} bytes for its blobs and {} to run; this service has "
                       "{} (--max-bytes-reserved)",
                       footprint.stored, footprint.working, budget)
                      .Field("spec.blobs")
                      .error());
  }
  if (draining) {
    probe.Rejected(RejectReason::kDraining);
    return Draining();
  }
  const uint64_t free = limits.uploads - std::min(uploads, limits.uploads);
  if (clients[client].uploads >= free) {
    return Refuse(RejectReason::kUploads,
                  Fail(Code::kResourceExhausted,
                       "{} uploads are open, {} of them of this client; the service has places for "
                       "{} (--max-uploads), and a client gets at most as many as are free",
                       uploads, clients[client].uploads, limits.uploads)
                      .error());
  }
  if (auto refusal = CheckPlace(client)) return refusal;
  return CheckBytes(footprint.stored, LargestWorkingWith(footprint.working));
}

std::optional<CallStatus> Scheduler::State::CheckPlace(const std::string& client) {
  const uint64_t places = static_cast<uint64_t>(limits.workers) + limits.jobs_queued;
  const uint64_t free = places - std::min(jobs(), places);
  if (free == 0) {
    return Refuse(RejectReason::kQueueFull,
                  Fail(Code::kResourceExhausted, "the queue is full: {} jobs", jobs()).error());
  }
  if (clients[client].jobs < free) return std::nullopt;
  return Refuse(RejectReason::kQueueFull,
                Fail(Code::kResourceExhausted,
                     "this client has {} jobs in the queue; the {} places that are free are for "
                     "other clients",
                     clients[client].jobs, free)
                    .error());
}

std::optional<CallStatus> Scheduler::State::CheckBytes(uint64_t more, uint64_t largest_working) {
  const uint64_t budget = limits.bytes_reserved;
  const uint64_t taken = stored + std::min(largest_working, budget);
  if (taken <= budget && more <= budget - taken) return std::nullopt;
  return Refuse(
      RejectReason::kMemory,
      Fail(Code::kResourceExhausted,
           "{} more bytes do not fit: uploads and jobs have reserved {} of {}", more, taken, budget)
          .error());
}

}  // namespace octavo::server
