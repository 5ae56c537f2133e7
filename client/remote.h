// SPDX-License-Identifier: Apache-2.0
// Runs a job on a service: equal requests give equal bytes.  Retries while the service cannot be
// reached or is overloaded, which is safe as a job is a pure function.  Stops within 100 ms of its
// stop token.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/job/job.h"

namespace octavo::client {

struct RemoteOptions {
  std::string address = {};  // HOST:PORT
  int attempts = 6;
  // Pauses between attempts double; the service's RetryInfo takes precedence.
  std::chrono::milliseconds first_pause = std::chrono::milliseconds(200);
  std::chrono::milliseconds longest_pause = std::chrono::seconds(10);
  std::optional<std::chrono::system_clock::time_point> deadline = {};
};

// The observer also gets the stages `upload` and `download` (in bytes) and `queue`.  Outcome::facts
// stays empty: the service has counted them.
Result<job::Outcome> RemoteRun(const RemoteOptions& options, const job::Request& request,
                               const StopToken& stop, const job::Observer& observer);

// OK if the service at the address reports SERVING.
Status CheckHealth(const std::string& address, std::chrono::milliseconds timeout);

}  // namespace octavo::client
