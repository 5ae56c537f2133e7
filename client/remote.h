// The job of the core, run by a service: same request, same bytes.  Retries while the service is
// out of reach or overloaded, as a job is a pure function; stops within 100 ms of its stop token.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/job/job.h"

namespace octavo::client {

struct RemoteOptions {
  std::string address = {};  // HOST:PORT
  int attempts = 6;
  // Between attempts, doubling; the service's own advice goes before it.
  std::chrono::milliseconds first_pause = std::chrono::milliseconds(200);
  std::chrono::milliseconds longest_pause = std::chrono::seconds(10);
  std::optional<std::chrono::system_clock::time_point> deadline = {};
};

// Beside the stages of job::Progress the observer sees `upload` and `download` (bytes) and `queue`.
// Outcome::facts stays empty: it is what the service counts.
Result<job::Outcome> RemoteRun(const RemoteOptions& options, const job::Request& request,
                               const StopToken& stop, const job::Observer& observer);

// OK if the service at the address answers that it serves.
Status CheckHealth(const std::string& address, std::chrono::milliseconds timeout);

}  // namespace octavo::client
