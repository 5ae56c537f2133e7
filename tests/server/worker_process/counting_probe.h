// SPDX-License-Identifier: Apache-2.0
// Counts what a runner reports.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "server/session/worker_probe.h"

namespace octavo::server::worker {

class CountingProbe : public WorkerProbe {
 public:
  void WorkerStarted(double seconds) override {
    const std::lock_guard lock(mutex_);
    start_seconds_.push_back(seconds);
  }
  void WorkerEnded(Cause cause, uint64_t peak_rss_bytes) override {
    const std::lock_guard lock(mutex_);
    ++ended_[cause];
    peak_rss_ = std::max(peak_rss_, peak_rss_bytes);
  }
  void SandboxLevel(int level) override { level_ = level; }

  int started() {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(start_seconds_.size());
  }
  std::vector<double> start_seconds() {
    const std::lock_guard lock(mutex_);
    return start_seconds_;
  }
  int count(Cause cause) {
    const std::lock_guard lock(mutex_);
    return ended_[cause];
  }
  uint64_t peak_rss() {
    const std::lock_guard lock(mutex_);
    return peak_rss_;
  }
  int level() const { return level_; }

 private:
  std::mutex mutex_;
  std::vector<double> start_seconds_;
  std::map<Cause, int> ended_;
  uint64_t peak_rss_ = 0;
  int level_ = 0;
};

}  // namespace octavo::server::worker
