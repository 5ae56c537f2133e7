// SPDX-License-Identifier: Apache-2.0
// One call of Blobs.WriteBlob without gRPC.  All work runs on the call's own Serial, so it needs no
// locks and blocks no reactor.  Any thread may call the public methods; they return at once.
//
// Memory per call is bounded: one incoming chunk, and the chunks that wait for the hash (at most
// HashQueue::kMostWaiting).  The next chunk is read when the last is stored, not when it is hashed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/blobs/blob_services.h"
#include "server/session/scheduler.h"

namespace octavo::server {

// The call's connection to its client.
class BlobWriteTransport {
 public:
  virtual ~BlobWriteTransport() = default;
  // Requests the next message: one call of DigestArrived, ChunkArrived, InputEnded follows.
  virtual void Read() = 0;
  // Ends the call; `size_bytes` is what is stored if `status` is OK.
  virtual void Finish(CallStatus status, uint64_t size_bytes) = 0;
};

//   DigestArrived         InputEnded, all bytes stored
//
//  kDigest ------> kChunks ------> kEnded
//     |               |              ^
//     +---------------+--------------+  error, cancellation, idle client, drain
//
// Whatever ends the call early, the store keeps what has arrived.
class BlobWrite : public std::enable_shared_from_this<BlobWrite> {
 public:
  // `transport` must live until the call to its Finish.
  static std::shared_ptr<BlobWrite> Start(BlobServices& services, BlobWriteTransport& transport,
                                          std::string client);

  void DigestArrived(Result<BlobDigest> digest);
  void ChunkArrived(uint64_t offset, std::string bytes);
  // Of a message that is neither.
  void InvalidArrived(Error error);
  void InputEnded();
  void Cancelled();

 private:
  enum class Stage { kDigest, kChunks, kEnded };

  BlobWrite(BlobServices& services, BlobWriteTransport& transport, std::string client);
  void Post(std::function<void(BlobWrite&)> step);
  std::function<void()> Later(void (BlobWrite::*step)());
  void HandleDigest(const BlobDigest& digest);
  void HandleChunk(uint64_t offset, std::string bytes);
  void HandleInputEnd();
  void EndIncomplete();
  void Commit();
  void ArmWatch();
  void CheckPace();
  void HandleDrain() { End(Draining()); }
  void End(CallStatus status);
  void End(Error error) { End(CallStatus{.error = std::move(error)}); }

  BlobServices& services_;
  BlobWriteTransport* transport_;  // null once the call has ended
  const std::string client_;
  Serial serial_;
  Stage stage_ = Stage::kDigest;
  BlobDigest digest_;
  std::unique_ptr<Transfers::Place> place_;
  std::unique_ptr<BlobWriter> writer_;
  uint64_t received_ = 0;
  uint64_t received_at_watch_ = 0;
  EventLoop::Timer watch_timer_;
  EventLoop::Timer input_timer_;
};

}  // namespace octavo::server
