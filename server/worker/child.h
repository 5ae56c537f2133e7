// SPDX-License-Identifier: Apache-2.0
// A worker process as its server sees it: a socket, a process descriptor, limits.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/status.h"

namespace octavo::server::worker {

// Of a process that has ended.
struct Exit {
  int exit_code = -1;  // -1 if a signal ended it
  int signal = 0;
  uint64_t peak_rss_bytes = 0;
};

struct ChildLimits {
  uint64_t data_bytes = 0;
  uint64_t stack_bytes = 0;  // of its threads, in addition
  uint64_t file_bytes = 0;   // of the output
  std::chrono::seconds cpu = {};
};

class Child {
 public:
  // Starts the program with an empty environment, no descriptor but its end of the socket, and the
  // highest level of isolation that it may reach.  It ends with the calling thread.
  static Result<std::unique_ptr<Child>> Spawn(const std::string& program, int highest_level);
  // Kills and reaps a process that has not been reaped.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  int socket() const { return socket_.fd; }
  int process() const { return process_.fd; }  // readable when the process has ended

  // Sets soft limits from outside; the worker cannot raise them.
  Status Limit(const ChildLimits& limits) const;
  // The first two alone.
  Status LimitMemory(const ChildLimits& limits) const;
  void Kill() const;
  bool EndsWithin(std::chrono::milliseconds time) const;
  // Reaps the process; waits for its end.
  const Exit& Reap();

 private:
  Child(pid_t pid, int socket, int process) : pid_(pid), socket_(socket), process_(process) {}

  pid_t pid_;
  Descriptor socket_;
  Descriptor process_;
  bool reaped_ = false;
  Exit exit_ = {};
};

}  // namespace octavo::server::worker
