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

Error ClientDeadline() {
  return Fail(Code::kDeadlineExceeded, "the client's deadline passed")
      .Reason("CLIENT_DEADLINE")
      .error();
}

CallStatus Scheduler::State::Refuse(RejectReason reason, Error error, const std::string& client,
                                    uint64_t sharing) {
  probe.Rejected(reason);
  if (error.code != Code::kResourceExhausted) return Refusal(std::move(error), std::nullopt);
  RetryTimes& times = reason == RejectReason::kUploads ? retry_of_uploads : retry_of_jobs;
  return Refusal(std::move(error), times.Next(client, std::chrono::steady_clock::now(), sharing));
}

uint64_t Scheduler::State::ClientsWithJobs(const std::string& client) const {
  uint64_t count = 0;
  for (const auto& [name, each] : clients) count += (each.jobs > 0 || name == client) ? 1 : 0;
  return count;
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
                      .error(),
                  client);
  }
  if (draining) {
    probe.Rejected(RejectReason::kDraining);
    return Draining();
  }
  const uint64_t open = uploads.size();
  const uint64_t free = limits.uploads - std::min(open, limits.uploads);
  if (clients[client].uploads >= free) {
    return Refuse(RejectReason::kUploads,
                  Fail(Code::kResourceExhausted,
                       "{} uploads are open, {} of them of this client; the service has places for "
                       "{} (--max-uploads), and a client gets at most as many as are free",
                       open, clients[client].uploads, limits.uploads)
                      .error(),
                  client);
  }
  if (auto refusal = CheckPlace(client)) return refusal;
  return CheckBytes(client, footprint.stored, LargestWorkingWith(footprint.working));
}

std::optional<CallStatus> Scheduler::State::CheckPlace(const std::string& client) {
  const uint64_t places = static_cast<uint64_t>(limits.workers) + limits.jobs_queued;
  const uint64_t free = places - std::min(jobs(), places);
  if (free == 0) {
    return Refuse(RejectReason::kQueueFull,
                  Fail(Code::kResourceExhausted, "the queue is full: {} jobs", jobs()).error(),
                  client);
  }
  if (clients[client].jobs < free) return std::nullopt;
  return Refuse(RejectReason::kQueueFull,
                Fail(Code::kResourceExhausted,
                     "this client has {} jobs in the queue; the {} places that are free are for "
                     "other clients",
                     clients[client].jobs, free)
                    .error(),
                client, ClientsWithJobs(client));
}

std::optional<CallStatus> Scheduler::State::CheckBytes(const std::string& client, uint64_t more,
                                                       uint64_t largest_working) {
  const uint64_t budget = limits.bytes_reserved;
  const uint64_t taken = stored + std::min(largest_working, budget);
  if (taken <= budget && more <= budget - taken) return std::nullopt;
  return Refuse(
      RejectReason::kMemory,
      Fail(Code::kResourceExhausted,
           "{} more bytes do not fit: uploads and jobs have reserved {} of {}", more, taken, budget)
          .error(),
      client);
}

}  // namespace octavo::server
