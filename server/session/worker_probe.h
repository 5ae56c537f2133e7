// SPDX-License-Identifier: Apache-2.0
// The observer of worker processes, for metrics and the log.  Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace octavo::server::worker {

// Why a worker ended.
enum class Cause {
  kFinished,   // its job succeeded or failed
  kCancelled,  // its job was to stop
  kCrashed,    // a signal, or an exit without an answer
  kMemory,     // over its memory
  kCpu,        // over its processor time
  kOutput,     // over its output
  kProtocol,   // a frame that is none
  kIdle,       // it never had a job
};
inline constexpr Cause kCauses[] = {Cause::kFinished, Cause::kCancelled, Cause::kCrashed,
                                    Cause::kMemory,   Cause::kCpu,       Cause::kOutput,
                                    Cause::kProtocol, Cause::kIdle};
// "finished", "cancelled", "crashed", "memory", "cpu", "output", "protocol", "idle"
std::string_view NameOf(Cause cause);

class WorkerProbe {
 public:
  virtual ~WorkerProbe() = default;
  // `seconds`: from the start of the process until it has locked itself in.
  virtual void WorkerStarted(double seconds) = 0;
  virtual void WorkerEnded(Cause cause, uint64_t peak_rss_bytes) = 0;
  // Once, at the start of the server.
  virtual void SandboxLevel(int level) = 0;
};

}  // namespace octavo::server::worker
