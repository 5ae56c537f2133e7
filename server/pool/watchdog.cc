// SPDX-License-Identifier: Apache-2.0
#include "server/pool/watchdog.h"

#include <utility>

namespace octavo::server {

Watchdog::Watchdog(const EventLoop& loop, std::chrono::milliseconds patience,
                   std::function<void(bool stuck)> tell)
    : loop_(loop), patience_(patience), tell_(std::move(tell)), thread_([this] { Run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::Run() {
  bool was_stuck = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, patience_ / 10, [this] { return ended_; })) {
    const bool stuck = loop_.StuckFor(patience_);
    if (stuck != was_stuck) tell_(stuck);
    was_stuck = stuck;
  }
}

}  // namespace octavo::server
