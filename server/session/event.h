// What a session tells its client, and how it ends: the wire's events as plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/base/blob.h"
#include "core/base/status.h"
#include "server/session/spec.h"

namespace octavo::server {

struct Accepted {
  std::string job_id = {};
  uint32_t queue_position = 0;
};

struct ProgressEvent {
  std::string stage = {};
  std::string pass = {};
  int64_t done = 0;
  int64_t total = 0;
};

struct ChunkEvent {
  uint32_t blob = 0;
  uint64_t offset = 0;
  Blob bytes = {};
};

struct Finished {
  bool gate_failed = false;
  std::string message = {};
};

using Event = std::variant<Accepted, ProgressEvent, BlobInfo, ChunkEvent, Finished>;

// OK without an error.  `retry_after` goes with kResourceExhausted and kUnavailable.
struct Ending {
  std::optional<Error> error = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
};

// The other side of a session: a gRPC stream, or a test.  Calls come from one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  // Asks for the next message; exactly one of Session's *Arrived or InputEnded follows.
  virtual void Read() = 0;
  // Session::Written follows.  One write is under way at a time.
  virtual void Write(Event event) = 0;
  // The session's last call: it does not touch the transport afterwards.
  virtual void Finish(Ending ending) = 0;
  // Breaks the stream: writes that are under way fail, and Session::Cancelled follows.
  virtual void Abort() = 0;
};

}  // namespace octavo::server
