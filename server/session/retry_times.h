// SPDX-License-Identifier: Apache-2.0
// When clients that are refused a place are to ask again: one after the other, as places come free,
// so that those who keep to it find one.  Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace octavo::server {

class RetryTimes {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kLeast = std::chrono::milliseconds(200);
  static constexpr auto kMost = std::chrono::minutes(10);

  // `servers` places come free independently of each other.
  explicit RetryTimes(uint64_t servers) : servers_(servers) {}

  // A place was held for so long.
  void Held(double seconds);
  // The pause that `client` is told now.  It counts the jobs ahead: those of clients that were told
  // a time that is still to come, and of each other client at most as many as of this one.  So a
  // client that asks all the time pushes only itself back.
  // `sharing`: how many clients take turns at the places that it waits for.
  std::chrono::milliseconds Next(const std::string& client, Clock::time_point now,
                                 uint64_t sharing = 1);

 private:
  void Forget(Clock::time_point now);

  const uint64_t servers_;
  double mean_seconds_ = 1;  // of the first places by their mean, then an exponential average
  int held_ = 0;
  std::map<std::string, std::vector<Clock::time_point>> told_;  // times to come
  size_t told_in_all_ = 0;
};

}  // namespace octavo::server
