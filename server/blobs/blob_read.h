// SPDX-License-Identifier: Apache-2.0
// One call of Blobs.ReadBlob without gRPC.  All work runs on the call's own Serial.  Any thread may
// call the public methods; they return at once.  Memory per call is bounded: one chunk that is
// being written and, where the whole blob is read, the chunks that wait for the hash.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/blobs/blob_services.h"
#include "server/session/scheduler.h"
#include "server/store/hash_queue.h"

namespace octavo::server {

// The call's connection to its client.
class BlobReadTransport {
 public:
  virtual ~BlobReadTransport() = default;
  // Starts a write.  BlobRead::Written follows; at most one write is in flight.
  virtual void Write(Blob bytes) = 0;
  virtual void Finish(CallStatus status) = 0;
  // Breaks the stream: a pending write fails.
  virtual void Abort() = 0;
};

struct BlobRange {
  BlobDigest digest = {};
  uint64_t offset = 0;
  uint64_t limit = 0;  // 0: to the end
};

class BlobRead : public std::enable_shared_from_this<BlobRead> {
 public:
  // `transport` must live until the call to its Finish.
  static std::shared_ptr<BlobRead> Start(BlobServices& services, BlobReadTransport& transport,
                                         std::string client, Result<BlobRange> range);
  void Written(bool ok);
  void Cancelled();

 private:
  BlobRead(BlobServices& services, BlobReadTransport& transport, std::string client);
  void Post(std::function<void(BlobRead&)> step);
  std::function<void()> Later(void (BlobRead::*step)());
  void Begin(const Result<BlobRange>& range);
  Status Open(const BlobRange& range);
  // Writes the next chunk, or ends the call.
  void Continue();
  void CheckBytes();
  void ArmWatch();
  void CheckPace();
  void HandleDrain() { End(Draining()); }
  void End(CallStatus status);
  void End(Error error) { End(CallStatus{.error = std::move(error)}); }
  void FinishNow();

  BlobServices& services_;
  BlobReadTransport* transport_;  // null once the call has ended
  const std::string client_;
  Serial serial_;
  std::unique_ptr<Transfers::Place> place_;
  HeldBlob blob_;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
  std::optional<HashQueue> hash_;  // of a read of the whole blob
  bool write_under_way_ = false;
  uint64_t sent_ = 0;
  uint64_t sent_at_watch_ = 0;
  std::optional<CallStatus> status_;
  EventLoop::Timer watch_timer_;
};

}  // namespace octavo::server
