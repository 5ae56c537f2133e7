// SPDX-License-Identifier: Apache-2.0
// Runs a job on a service; equal requests give equal bytes.  Retries while the service is
// unreachable or overloaded, which is safe because a job is a pure function.  Stops within 100 ms
// of its stop token.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/job/job.h"

namespace octavo::client {

struct RemoteOptions {
  std::string address = {};  // HOST:PORT
  int attempts = 6;
  // The backoff doubles after each attempt; the service's RetryInfo takes precedence.
  std::chrono::milliseconds initial_backoff = std::chrono::milliseconds(200);
  std::chrono::milliseconds max_backoff = std::chrono::seconds(10);
  std::optional<std::chrono::system_clock::time_point> deadline = {};
};

// The observer also receives the stages `queue`, `upload` and `download`; the last two count bytes.
// Outcome::facts stays empty because the service has counted them.
Result<job::Outcome> RemoteRun(const RemoteOptions& options, const job::Request& request,
                               const StopToken& stop, const job::Observer& observer);

// OK if the service's health check returns SERVING.
Status CheckHealth(const std::string& address, std::chrono::milliseconds timeout);

}  // namespace octavo::client
