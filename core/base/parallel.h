// SPDX-License-Identifier: Apache-2.0
// A fixed set of threads that runs loops.  How a loop is split depends only on its index range, so
// results do not depend on which thread runs which part.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace octavo {

class ThreadPool {
 public:
  // `threads` includes the calling thread: 1 starts no thread.  0 means one per core.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls body(begin, end) for disjoint ranges that cover [0, count) and returns when all are done.
  // Each range except the last has at least `grain` elements.  The body must not throw.  Several
  // threads may call this: their loops run one after another.  A call from within a body runs
  // inline.
  void For(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

 private:
  struct State;
  int threads_ = 1;
  std::unique_ptr<State> state_;
};

}  // namespace octavo
