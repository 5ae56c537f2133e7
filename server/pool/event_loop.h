// SPDX-License-Identifier: Apache-2.0
// One thread for timers and signals.  What it calls must be short; how late it runs is measured.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace octavo::server {

class EventLoop {
 public:
  // A call that is to come.  Dropping the handle does not cancel it.
  class Timer {
   public:
    Timer() = default;
    // The call may be under way and still finish.  Must not outlive the loop.
    void Cancel();

   private:
    friend class EventLoop;
    struct State;
    std::shared_ptr<State> state_;
  };

  EventLoop();
  // Stops; timers must be gone.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `call` once on the loop's thread.
  Timer After(std::chrono::steady_clock::duration delay, std::function<void()> call);
  // Calls `call` each time the process gets one of the signals.
  void OnSignals(const std::vector<int>& signals, std::function<void(int)> call);
  // Ends the thread: no call is under way once it returns, and none begins.  Whoever owns what the
  // calls use stops the loop before that goes; timers can still be made and cancelled, to no
  // effect.
  void Stop();
  // How late the loop ran a timer, worst of the last ten seconds.
  double LagSeconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
