// SPDX-License-Identifier: Apache-2.0
#include "server/pool/event_loop.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <utility>

namespace octavo::server {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

// Only the loop's thread creates, waits for and cancels the timer.
struct EventLoop::Timer::State {
  explicit State(asio::io_context& context) : timer(context), context(&context) {}
  asio::steady_timer timer;
  asio::io_context* context;
  std::atomic<bool> cancelled{false};
};

struct EventLoop::State {
  static constexpr auto kBeat = std::chrono::milliseconds(500);
  static constexpr size_t kBeats = 20;

  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
  asio::steady_timer beat{context};
  std::array<std::atomic<double>, kBeats> lags = {};
  size_t next = 0;
  std::atomic<Clock::time_point> beaten{Clock::now()};
  std::vector<std::unique_ptr<asio::signal_set>> signal_sets;
  std::thread thread;

  void Beat() {
    const auto due = Clock::now() + kBeat;
    beat.expires_at(due);
    beat.async_wait([this, due](const boost::system::error_code& error) {
      if (error) return;
      const std::chrono::duration<double> late = Clock::now() - due;
      beaten = Clock::now();
      lags[next++ % kBeats].store(std::max(0.0, late.count()), std::memory_order_relaxed);
      Beat();
    });
  }

  static void WaitForSignal(asio::signal_set& signals, const std::function<void(int)>& call) {
    signals.async_wait([&signals, call](const boost::system::error_code& error, int signal) {
      if (error) return;
      call(signal);
      WaitForSignal(signals, call);
    });
  }
};

void EventLoop::Timer::Cancel() {
  const auto state = std::exchange(state_, nullptr);
  if (!state || state->cancelled.exchange(true)) return;
  asio::post(*state->context, [state] { state->timer.cancel(); });
}

EventLoop::EventLoop() : state_(std::make_unique<State>()) {
  state_->Beat();
  state_->thread = std::thread([this] { state_->context.run(); });
}

EventLoop::~EventLoop() { Stop(); }

void EventLoop::Stop() {
  state_->context.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

EventLoop::Timer EventLoop::After(Clock::duration delay, std::function<void()> call) {
  Timer handle;
  handle.state_ = std::make_shared<Timer::State>(state_->context);
  auto timer = handle.state_;
  const auto due = Clock::now() + delay;
  asio::post(state_->context, [timer, due, call = std::move(call)] {
    timer->timer.expires_at(due);
    timer->timer.async_wait([timer, call](const boost::system::error_code& error) {
      if (!error && !timer->cancelled.exchange(true)) call();
    });
  });
  return handle;
}

void EventLoop::OnSignals(const std::vector<int>& signals, std::function<void(int)> call) {
  auto set = std::make_unique<asio::signal_set>(state_->context);
  for (const int signal : signals) set->add(signal);
  auto& waiting = *set;
  state_->signal_sets.push_back(std::move(set));
  asio::post(state_->context,
             [&waiting, call = std::move(call)] { State::WaitForSignal(waiting, call); });
}

bool EventLoop::StuckFor(Clock::duration patience) const {
  return Clock::now() - state_->beaten.load() > patience;
}

double EventLoop::LagSeconds() const {
  double worst = 0;
  for (const auto& lag : state_->lags) {
    worst = std::max(worst, lag.load(std::memory_order_relaxed));
  }
  return worst;
}

}  // namespace octavo::server
