// SPDX-License-Identifier: Apache-2.0
// How many calls the clients of one address may reset: a burst, and from then on so many a second.
// Whoever exceeds it is refused for a while.  Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace octavo::server {

class ResetBudget {
 public:
  using Clock = std::chrono::steady_clock;

  // A client that ends cancels its calls at once, at most 100 on each connection.
  static constexpr double kBurst = 300;
  static constexpr double kPerSecond = 500;
  static constexpr auto kRefused = std::chrono::seconds(1);

  // False if `resets` exceed what is left: the address is refused from now on for kRefused.
  bool Take(uint64_t resets, Clock::time_point now);
  bool Refuses(Clock::time_point now) const;
  // Whether to forget this object and to begin another one would make no difference.
  bool Idle(Clock::time_point now) const;

 private:
  double LeftAt(Clock::time_point now) const;

  mutable std::mutex mutex_;
  double left_ = kBurst;
  Clock::time_point at_ = {};
  Clock::time_point refused_until_ = {};
};

}  // namespace octavo::server
