// SPDX-License-Identifier: Apache-2.0
// The events of a call, its final status and its transport, as plain values without gRPC.
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

// The final status of a call: OK if there is no error.  `retry_after` may be set with
// kResourceExhausted and kUnavailable.
struct CallStatus {
  std::optional<Error> error = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
};

// The client's side of a session: a gRPC stream, or a fake in tests.  Called by one thread at a
// time.
class Transport {
 public:
  virtual ~Transport() = default;
  // Requests the next message; exactly one of Session's *Arrived or InputEnded follows.
  virtual void Read() = 0;
  // Session::Written follows.  One write is under way at a time.
  virtual void Write(Event event) = 0;
  // The last call; the session does not use the transport afterwards.
  virtual void Finish(CallStatus status) = 0;
  // Breaks the stream: a pending write fails, and Session::Cancelled follows.
  virtual void Abort() = 0;
};

}  // namespace octavo::server
