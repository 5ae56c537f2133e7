// SPDX-License-Identifier: Apache-2.0
// Calls of octavo.v1.Jobs.  They wait for a connection, at most until their deadline, and stop
// within 100 ms of their stop token.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/retry.h"
#include "core/base/status.h"
#include "core/base/stop_token.h"
#include "core/job/job.h"
#include "octavo/v1/jobs.pb.h"

namespace octavo::client {

class JobsClient {
 public:
  // `notice` receives the stages `connect` and `retry`, as in remote.h.
  JobsClient(
      const std::string& address, const StopToken& stop,
      job::Observer notice = [](const job::Progress&) {});
  ~JobsClient();

  // `id` is a job id or an action digest everywhere.
  Result<v1::Job> Get(const std::string& id);
  // The newest `limit` jobs; JOB_STATE_UNSPECIFIED: of any state.
  Result<std::vector<v1::Job>> List(v1::JobState state, size_t limit);
  // Calls `show` for each change, and returns the job when it has ended.  Connects again where the
  // service went away.
  Result<v1::Job> Watch(const std::string& id, const std::function<void(const v1::Job&)>& show);
  Result<v1::Job> Cancel(const std::string& id);
  // The result of a job that has succeeded.  Continues where a connection broke, and tries again as
  // `policy` says.  Large files are stored in `folder` while they arrive, as in RemoteOptions.  The
  // observer receives the stages `download`, which counts bytes, and `retry`.
  Result<job::Outcome> Fetch(const v1::Job& job, const std::string& folder,
                             const RetryPolicy& policy, const job::Observer& observer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The error of a job that failed or was cancelled.
Error ErrorOf(const v1::Job& job);

}  // namespace octavo::client
