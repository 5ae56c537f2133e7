// SPDX-License-Identifier: Apache-2.0
// One thread for timers and signals.  Its callbacks must be short; LagSeconds measures how late
// they run.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace octavo::server {

class EventLoop {
 public:
  // A pending call.  Destroying the handle does not cancel the call.
  class Timer {
   public:
    Timer() = default;
    // A call that is already running finishes.  The handle must not outlive the loop.
    void Cancel();

   private:
    friend class EventLoop;
    struct State;
    std::shared_ptr<State> state_;
  };

  EventLoop();
  // Stops the loop.  All timers must be destroyed before it.
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs `call` once on the loop's thread.
  Timer After(std::chrono::steady_clock::duration delay, std::function<void()> call);
  // Runs `call` each time the process receives one of the signals.
  void OnSignals(const std::vector<int>& signals, std::function<void(int)> call);
  // Ends the thread.  After it returns, no callback is running and none will start.  The owner of
  // the objects that callbacks use must call Stop before it destroys them.  Making and cancelling
  // timers stays permitted and has no effect.
  void Stop();
  // The largest delay of a timer in the last ten seconds.
  double LagSeconds() const;
  // Whether the thread has run nothing for longer than `patience`, which is more than a second.
  bool StuckFor(std::chrono::steady_clock::duration patience) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
