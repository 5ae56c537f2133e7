// SPDX-License-Identifier: Apache-2.0
// The events of a call, its final status and its transport, as plain structs without gRPC.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/blob.h"
#include "core/base/status.h"
#include "server/session/job_probe.h"
#include "server/session/spec.h"

namespace octavo::server {

struct NeededBlob {
  uint32_t blob = 0;
  uint64_t offset = 0;

  bool operator==(const NeededBlob&) const = default;
};

struct Accepted {
  std::string job_id = {};
  uint32_t queue_position = 0;
  std::string action_digest = {};
  bool only_needed = false;  // the client sends `needed` alone; else all blobs
  std::vector<NeededBlob> needed = {};
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
  std::string action_digest = {};
  JobSource source = JobSource::kExecuted;
};

using Event = std::variant<Accepted, ProgressEvent, BlobInfo, ChunkEvent, Finished>;

// The final status of a call: OK if `error` is empty.  `retry_after` may accompany
// kResourceExhausted and kUnavailable.
struct CallStatus {
  std::optional<Error> error = {};
  std::optional<std::chrono::milliseconds> retry_after = {};
  std::vector<std::string> missing = {};  // digests of blobs that the store lacks
};

// The session's connection to its client: a gRPC stream, or a fake in tests.  The session calls it
// from one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  // Requests the next message.  Exactly one call of SpecArrived, ChunkArrived or InputEnded of the
  // session follows.
  virtual void Read() = 0;
  // Starts a write.  Session::Written follows; at most one write is in flight.
  virtual void Write(Event event) = 0;
  // Ends the call.  The session does not use the transport afterwards.
  virtual void Finish(CallStatus status) = 0;
  // Breaks the stream: a pending write fails, and Session::Cancelled follows.
  virtual void Abort() = 0;
};

}  // namespace octavo::server
