// SPDX-License-Identifier: Apache-2.0
// One thread for timers and signals.  Callbacks must be short; the loop measures its lag.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace octavo::server {

class EventLoop {
 public:
  // A scheduled call.  Destroying the handle does not cancel it.
  class Timer {
   public:
    Timer() = default;
    // A call that has begun still finishes.  Must not outlive the loop.
    void Cancel();

   private:
    friend class EventLoop;
    struct State;
    std::shared_ptr<State> state_;
  };

  EventLoop();
  // Stops.  All timers must have been destroyed.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `call` once on the loop's thread.
  Timer After(std::chrono::steady_clock::duration delay, std::function<void()> call);
  // Calls `call` each time the process gets one of the signals.
  void OnSignals(const std::vector<int>& signals, std::function<void(int)> call);
  // Ends the thread: after it returns no call runs or begins.  The owner of objects that the calls
  // use must stop the loop before it destroys them; timers created or cancelled later have no
  // effect.
  void Stop();
  // How late the loop ran a timer, worst of the last ten seconds.
  double LagSeconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
