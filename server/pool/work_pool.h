// SPDX-License-Identifier: Apache-2.0
// Threads for work that blocks: disk, hashing and jobs.  A Serial runs its tasks one after another
// in order of posting, on any free thread, so that data which only its tasks use needs no lock.
// Tasks must not throw.
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
  // Runs all posted tasks, then ends the threads.
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
