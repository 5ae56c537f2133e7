// SPDX-License-Identifier: Apache-2.0
// Jobs that have crashed their workers.  Jobs are pure functions of their requests, so one that has
// crashed twice would crash again: it is refused for a day.  With a file, also after a restart of
// the server.  Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "core/job/job.h"

namespace octavo::server::worker {

class PoisonList {
 public:
  using Clock = std::chrono::system_clock;
  static constexpr int kCrashes = 2;
  static constexpr std::chrono::hours kTime{24};
  static constexpr size_t kMostJobs = 1024;  // the oldest is forgotten

  // Reads `file` and keeps the list there, as JSON; an empty name keeps it in memory.  A file that
  // cannot be read or written is logged, and the list goes on without it.
  explicit PoisonList(std::string file = {}, Clock::time_point now = Clock::now());

  void Crashed(const job::Request& request, const Error& error, Clock::time_point now);
  // FAILED_PRECONDITION with reason POISONED if the job has crashed too often.  Hashes the inputs
  // only if a job of the same size has crashed.
  Status Check(const job::Request& request, Clock::time_point now);

 private:
  struct Entry {
    int crashes = 0;
    uint64_t bytes = 0;  // of all inputs
    Clock::time_point last = {};
    std::string message = {};
  };
  void Forget(Clock::time_point now);
  void Read(Clock::time_point now);
  void Write() const;

  const std::string file_;
  std::mutex mutex_;
  std::map<std::string, Entry> jobs_;  // by action digest
};

}  // namespace octavo::server::worker
