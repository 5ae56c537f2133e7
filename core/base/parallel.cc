#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace octavo {
namespace {

thread_local bool inside_a_body = false;

}  // namespace

// One loop at a time.  Threads take pieces from `next` until none is left; a generation number
// tells a sleeping thread that a new loop has come.
struct ThreadPool::State {
  std::mutex one_loop;
  std::mutex mutex;
  std::condition_variable wake, finished;
  std::vector<std::thread> threads;
  uint64_t generation = 0;
  int active = 0;
  bool closing = false;

  const std::function<void(int64_t, int64_t)>* body = nullptr;
  int64_t count = 0;
  int64_t piece = 1;
  std::atomic<int64_t> next{0};

  void Work() {
    inside_a_body = true;
    for (;;) {
      const int64_t begin = next.fetch_add(piece, std::memory_order_relaxed);
      if (begin >= count) break;
      (*body)(begin, std::min(begin + piece, count));
    }
    inside_a_body = false;
  }

  void Loop() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return closing || generation != seen; });
      if (closing) return;
      seen = generation;
      lock.unlock();
      Work();
      lock.lock();
      if (--active == 0) finished.notify_one();
    }
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
  {
    std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void ThreadPool::For(int64_t count, int64_t grain,
                     const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (threads_ == 1 || count <= grain || inside_a_body) return body(0, count);

  std::lock_guard only(state_->one_loop);
  // A few pieces a thread even out uneven cores without much hand-over.
  const int64_t pieces = std::min<int64_t>((count + grain - 1) / grain, threads_ * 4);
  {
    std::lock_guard lock(state_->mutex);
    state_->body = &body;
    state_->count = count;
    state_->piece = (count + pieces - 1) / pieces;
    state_->next.store(0, std::memory_order_relaxed);
    state_->active = static_cast<int>(state_->threads.size());
    ++state_->generation;
  }
  state_->wake.notify_all();
  state_->Work();
  std::unique_lock lock(state_->mutex);
  state_->finished.wait(lock, [&] { return state_->active == 0; });
}

}  // namespace octavo
