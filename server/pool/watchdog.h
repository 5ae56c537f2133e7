// SPDX-License-Identifier: Apache-2.0
// Tells when an event loop gets stuck and when it runs again, from a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "server/pool/event_loop.h"

namespace octavo::server {

class Watchdog {
 public:
  // `tell` is called with true when `loop` has run nothing for `patience` (at least a second), and
  // with false when it runs again.  The loop must outlive the watchdog.
  Watchdog(const EventLoop& loop, std::chrono::milliseconds patience,
           std::function<void(bool stuck)> tell);
  // `tell` is not called afterwards.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void Run();

  const EventLoop& loop_;
  const std::chrono::milliseconds patience_;
  const std::function<void(bool)> tell_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace octavo::server
