// SPDX-License-Identifier: Apache-2.0
#include "server/service/reset_budget.h"

#include <algorithm>

namespace octavo::server {

double ResetBudget::LeftAt(Clock::time_point now) const {
  const std::chrono::duration<double> since = now - at_;
  return std::min(kBurst, left_ + since.count() * kPerSecond);
}

bool ResetBudget::Take(uint64_t resets, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const double left = LeftAt(now) - static_cast<double>(resets);
  at_ = now;
  left_ = std::max(left, 0.0);
  if (left >= 0) return true;
  refused_until_ = now + kRefused;
  return false;
}

bool ResetBudget::Refuses(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return now < refused_until_;
}

bool ResetBudget::Idle(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return now >= refused_until_ && LeftAt(now) >= kBurst;
}

}  // namespace octavo::server
