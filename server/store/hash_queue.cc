// SPDX-License-Identifier: Apache-2.0
#include "server/store/hash_queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "core/base/sha256.h"

namespace octavo::server {

struct HashQueue::State {
  std::mutex mutex = {};
  std::condition_variable changed = {};
  std::deque<Blob> waiting = {};
  size_t waiting_bytes = 0;
  bool posted = false;  // a task of the executor has not started yet
  bool busy = false;    // a thread uses `hash`
  Sha256 hash = {};

  // Hashes until at most `most` bytes wait, together with the thread that is busy, if any.
  void Work(size_t most) {
    std::unique_lock lock(mutex);
    while (waiting_bytes > most || (most == 0 && (busy || !waiting.empty()))) {
      if (busy) {
        changed.wait(lock);
        continue;
      }
      busy = true;
      const Blob next = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      hash.Update(next.bytes());
      lock.lock();
      waiting_bytes -= next.size();
      busy = false;
      changed.notify_all();
    }
  }
};

HashQueue::HashQueue(Executor executor)
    : executor_(std::move(executor)), state_(std::make_shared<State>()) {}

void HashQueue::Add(Blob bytes) {
  if (bytes.empty()) return;
  bool post = false;
  {
    const std::scoped_lock lock(state_->mutex);
    state_->waiting_bytes += bytes.size();
    state_->waiting.push_back(std::move(bytes));
    post = executor_ && !std::exchange(state_->posted, true);
  }
  if (post) {
    executor_([state = state_] {
      {
        const std::scoped_lock lock(state->mutex);
        state->posted = false;
      }
      state->Work(0);
    });
  }
  state_->Work(executor_ ? kMostWaiting : 0);
}

std::string HashQueue::Finish() {
  state_->Work(0);
  return state_->hash.Finish();
}

}  // namespace octavo::server
