// SPDX-License-Identifier: Apache-2.0
// Runs a job on a service; equal requests give equal bytes.  Memory does not grow with inputs or
// results.  Retries while the service is unreachable or overloaded, which is safe because a job is
// a pure function; an upload continues where the service has stored it, and has its attempts anew
// each time that it got on.  Stops within 100 ms of its stop token.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/retry.h"
#include "core/job/job.h"

namespace octavo::client {

struct RemoteOptions {
  std::string address = {};  // HOST:PORT
  // Where large results are stored while they arrive, in files without a name; else in TMPDIR.
  std::string folder = {};
  // The service runs the job although it has its result, and fails with kInternal if they differ.
  bool no_cache = false;
  RetryPolicy retry = {};
  bool detach = false;  // set by RemoteSubmit
  int priority = 0;     // among the client's jobs, from -10 to 10; the highest runs first
  std::optional<std::chrono::system_clock::time_point> deadline = {};
};

// The time that a `--timeout` of `seconds` ends; none beyond a year.
std::optional<std::chrono::system_clock::time_point> DeadlineIn(double seconds);

// Where the service had a result from.
enum class ResultSource { kExecuted, kCache, kJoined };

// The observer also receives the stages `job`, whose pass is the job's id and whose `done` is the
// number of jobs before it, `queue`, `upload` and `download`, of which the last two count bytes,
// `connect`, whose pass says that there is no answer yet, and `retry`, whose pass says when, why
// and which attempt. Outcome::facts stays empty because the
// service has counted them. Sets `source`, if given, when it succeeds.
Result<job::Outcome> RemoteRun(const RemoteOptions& options, const job::Request& request,
                               const StopToken& stop, const job::Observer& observer,
                               ResultSource* source = nullptr);

// Sends the job and returns its id as soon as the service has acknowledged it: it then runs without
// this call, and client/jobs.h knows what becomes of it.
Result<std::string> RemoteSubmit(RemoteOptions options, const job::Request& request,
                                 const StopToken& stop, const job::Observer& observer);

// OK if the service's health check returns SERVING.
Status CheckHealth(const std::string& address,
                   std::optional<std::chrono::system_clock::time_point> deadline);

}  // namespace octavo::client
