// SPDX-License-Identifier: Apache-2.0
#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace octavo {
namespace {

// How long a thread spins for the next loop, or for the end of the current one, before it sleeps: a
// plan's steps follow each other much faster than threads wake up.
constexpr std::chrono::microseconds kPatience{50};

thread_local bool inside_a_body = false;

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Spins until the condition holds; false if that takes longer than kPatience.
template <class Condition>
bool CameSoon(Condition condition) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + kPatience;
  do {
    for (int i = 0; i < 16; ++i) {
      if (condition()) return true;
      Pause();
    }
    std::this_thread::yield();  // the awaited thread may need this core
  } while (Clock::now() < end);
  return condition();
}

}  // namespace

// One loop runs at a time.  Threads claim its pieces one by one from `ticket`: the upper half
// numbers the loop, the lower half counts the remaining pieces.  A thread that has claimed a piece
// may read the loop's body, because the loop cannot end before that piece does.  The caller does
// not wait for threads that have claimed nothing.
struct ThreadPool::State {
  std::mutex one_loop;
  std::mutex mutex;  // guards only the sleeping threads
  std::condition_variable wake, finished;
  std::vector<std::thread> threads;
  std::atomic<uint64_t> ticket{0};
  std::atomic<int64_t> unfinished{0};  // pieces
  std::atomic<int> sleepers{0};
  std::atomic<bool> caller_sleeps{false};
  std::atomic<bool> closing{false};

  const std::function<void(int64_t, int64_t)>* body = nullptr;
  int64_t count = 0;
  int64_t piece = 1;
  int64_t pieces = 0;

  static int64_t Left(uint64_t ticket) { return static_cast<int64_t>(ticket & 0xffffffff); }
  bool HasWork() const { return closing || Left(ticket) > 0; }

  // Runs pieces until all are claimed.
  void Work() {
    uint64_t seen = ticket;
    while (Left(seen) > 0) {
      if (!ticket.compare_exchange_weak(seen, seen - 1)) continue;
      const int64_t begin = (pieces - Left(seen)) * piece;
      inside_a_body = true;
      (*body)(begin, std::min(begin + piece, count));
      inside_a_body = false;
      if (--unfinished == 0 && caller_sleeps) {
        const std::lock_guard lock(mutex);
        finished.notify_one();
      }
      seen = ticket;
    }
  }

  void Loop() {
    while (!closing) {
      if (!CameSoon([&] { return HasWork(); })) {
        std::unique_lock lock(mutex);
        ++sleepers;
        wake.wait(lock, [&] { return HasWork(); });
        --sleepers;
      }
      Work();
    }
  }

  void WakeSleepers() {
    if (sleepers == 0) return;
    const std::lock_guard lock(mutex);
    wake.notify_all();
  }

  void AwaitEnd() {
    const auto is_done = [&] { return unfinished == 0; };
    if (CameSoon(is_done)) return;
    std::unique_lock lock(mutex);
    caller_sleeps = true;
    finished.wait(lock, is_done);
    caller_sleeps = false;
  }
};

ThreadPool::ThreadPool(int threads) {
  threads_ = threads;
  if (threads <= 0) {
    threads_ = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }
  state_ = std::make_unique<State>();
  for (int i = 1; i < threads_; ++i) state_->threads.emplace_back([this] { state_->Loop(); });
}

ThreadPool::~ThreadPool() {
  state_->closing = true;
  state_->WakeSleepers();
  for (std::thread& thread : state_->threads) thread.join();
}

void ThreadPool::For(int64_t count, int64_t grain,
                     const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (threads_ == 1 || count <= grain || inside_a_body) return body(0, count);

  const std::lock_guard only(state_->one_loop);
  // A few pieces per thread balance cores of different speed and add little claiming overhead.
  const int64_t most = std::min<int64_t>((count + grain - 1) / grain, threads_ * 4);
  state_->body = &body;
  state_->count = count;
  state_->piece = (count + most - 1) / most;
  state_->pieces = (count + state_->piece - 1) / state_->piece;
  state_->unfinished = state_->pieces;
  const uint64_t number = (state_->ticket >> 32) + 1;
  state_->ticket = number << 32 | static_cast<uint64_t>(state_->pieces);
  state_->WakeSleepers();
  state_->Work();
  state_->AwaitEnd();
}

}  // namespace octavo
