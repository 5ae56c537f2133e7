// SPDX-License-Identifier: Apache-2.0
// Threads for blocking work: disk access, hashing and jobs.  A Serial runs its work items one at a
// time in the order of Post, each on any free thread; data that only one Serial touches needs no
// lock.  Work items must not throw.
#pragma once

#include <functional>
#include <memory>

namespace octavo::server {

using Work = std::function<void()>;

// Must not outlive its pool.
class Serial {
 public:
  void Post(Work work) const;

 private:
  friend class WorkPool;
  struct State;
  explicit Serial(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

class WorkPool {
 public:
  explicit WorkPool(int threads);
  // Runs the items already posted, then ends the threads.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  void Post(Work work);
  Serial MakeSerial();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::server
