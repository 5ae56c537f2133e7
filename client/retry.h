// SPDX-License-Identifier: Apache-2.0
// When a call that failed is tried again.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/wire.h"
#include "core/base/stop_token.h"

namespace octavo::client {

struct RetryPolicy {
  // From the first failure on; zero: a call is tried once.
  std::chrono::milliseconds retry_for = std::chrono::seconds(120);
  // The pause doubles after each failure, up to max_backoff; the service's RetryInfo takes
  // precedence, however long it is.
  std::chrono::milliseconds initial_backoff = std::chrono::milliseconds(200);
  std::chrono::milliseconds max_backoff = std::chrono::seconds(10);
};

// The failures of one request.  Used by one thread.
class Retry {
 public:
  using Deadline = std::optional<std::chrono::system_clock::time_point>;
  Retry(const RetryPolicy& policy, Deadline deadline)
      : policy_(policy), deadline_(deadline), pause_(policy.initial_backoff) {}

  // The pause before the next try, up to half as long again by chance, so that clients refused
  // together do not come back together.  The last try is at the end of the time, if the pause would
  // be longer.  Empty if there is no other try: the failure is not of the kind that passes, or the
  // time is over.
  std::optional<std::chrono::milliseconds> PauseAfter(const CallFailure& failure);
  // An upload got on before it failed: the time begins anew.
  void Progressed();
  // The attempts that have failed.
  int attempts() const { return attempts_; }

 private:
  using Clock = std::chrono::steady_clock;
  const RetryPolicy policy_;
  const Deadline deadline_;
  std::chrono::milliseconds pause_;
  std::optional<Clock::time_point> first_failure_;
  int attempts_ = 0;
};

// Sleeps, and says as the stage `retry` for how long, why, and which attempt comes then.
Status WaitToRetry(std::chrono::milliseconds pause, const CallFailure& failure,
                   const std::string& address, const Retry& retry, const StopToken& stop,
                   const job::Observer& observer);

// The error of the last attempt, with the address or the time that the service asks for, and the
// number of attempts if there were several.
Error FinalError(CallFailure failure, const std::string& address, int attempts = 1);

}  // namespace octavo::client
