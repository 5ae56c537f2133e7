// SPDX-License-Identifier: Apache-2.0
// A request to stop: a flag that any thread may set, and a deadline.  Copies share the
// flag.  Thread-safe; checking costs one relaxed load and, with a deadline, one clock read.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "core/base/status.h"

namespace octavo {

class StopToken {
 public:
  using Clock = std::chrono::steady_clock;

  StopToken() : stopped_(std::make_shared<std::atomic<bool>>(false)) {}
  explicit StopToken(Clock::time_point deadline) : StopToken() { deadline_ = deadline; }

  void RequestStop() const { stopped_->store(true, std::memory_order_relaxed); }
  bool StopRequested() const {
    return stopped_->load(std::memory_order_relaxed) || (deadline_ && Clock::now() >= *deadline_);
  }
  // OK, kCancelled or kDeadlineExceeded.
  Status Check() const;

 private:
  std::shared_ptr<std::atomic<bool>> stopped_;
  std::optional<Clock::time_point> deadline_;
};

}  // namespace octavo
