// SPDX-License-Identifier: Apache-2.0
#include "server/store/job_store.h"

#include <algorithm>

namespace octavo::server {

std::string_view NameOf(JobState state) {
  switch (state) {
    case JobState::kQueued:
      return "queued";
    case JobState::kRunning:
      return "running";
    case JobState::kSucceeded:
      return "succeeded";
    case JobState::kFailed:
      return "failed";
    case JobState::kCancelled:
      return "cancelled";
  }
  return "queued";
}

Status CheckFilter(const JobFilter& filter) {
  if (filter.page_size < 1 || filter.page_size > JobStore::kLargestPage) {
    return Fail(Code::kUsage, "page_size is {}; it must be from 1 to {}", filter.page_size,
                JobStore::kLargestPage)
        .Field("page_size");
  }
  const std::string& token = filter.page_token;
  const bool digits =
      std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || token.size() > 18) {
    return Fail(Code::kUsage, "page_token is not one that this service has given out")
        .Field("page_token");
  }
  return {};
}

Failure NoSuchJob(const std::string& job_id) {
  return Fail(Code::kUsage, "there is no job '{}'", job_id.substr(0, 64))
      .Field("job_id")
      .Reason("NOT_FOUND");
}

Failure WrongState(const std::string& job_id, JobState state, std::string_view wanted) {
  return Fail(Code::kUsage, "job '{}' is {}; it must be {}", job_id, NameOf(state), wanted)
      .Field("job_id");
}

JobEnd EndOfAttempts(int attempts) {
  return {.state = JobState::kFailed,
          .error = Error{
              .code = Code::kAborted,
              .message = fmt::format("the service ended {} times while it ran this job", attempts),
              .reason = "WORKER_CRASHED"}};
}

JobEnd EndOfCall() {
  return {.state = JobState::kCancelled,
          .error = Error{.code = Code::kCancelled,
                         .message = "the service restarted, and the job's call ended",
                         .reason = "CANCELLED"}};
}

}  // namespace octavo::server
