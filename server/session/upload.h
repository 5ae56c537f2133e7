// SPDX-License-Identifier: Apache-2.0
// One blob of a job.  Without a store, its chunks go to an unnamed file and are hashed in order of
// offset.  With a store, a blob that the store has needs no chunk, one that it has in part
// continues there, and what a client sends all the same is dropped.  Where the disk fails, the
// upload goes on in memory.  Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/blob.h"
#include "core/base/sha256.h"
#include "core/base/status.h"
#include "server/session/spec.h"
#include "server/store/blob_store.h"

namespace octavo::server {

class Upload {
 public:
  // `field` is the blob's path in the spec, for messages.  The first byte creates the file in
  // `folder`, or in memory if `folder` is empty: a spec of many blobs costs no descriptors.  The
  // file has no name, so a crash leaves nothing behind.
  Upload(BlobInfo info, std::string field, std::string folder)
      : info_(std::move(info)), field_(std::move(field)), folder_(std::move(folder)) {}

  // Creates the folder if its parent exists.  kUsage if files cannot be written to it.
  static Status TryFolder(const std::string& folder);

  // Uses the store from now on.  Call it before the first chunk; the store must outlive this.
  Status FindIn(BlobStore& store);
  // `offset` must be the end of the previous chunk, for the first chunk 0 or found(), and the chunk
  // must not exceed the declared size.
  Status CheckChunk(uint64_t offset, const Blob& bytes) const;
  // Appends a chunk.
  Status Add(uint64_t offset, const Blob& bytes);
  bool complete() const { return received_ == info_.size_bytes; }
  // The bytes that are there: those that the store had, and those that chunks have brought.
  uint64_t received() const { return received_; }
  // The bytes that the store had.
  uint64_t found() const { return found_; }
  const BlobInfo& info() const { return info_; }
  // Returns all bytes if their digest equals the declared one.  Call it once, when complete.
  Result<Blob> Seal();

 private:
  struct File;
  BlobDigest Digest() const { return {.sha256 = info_.sha256, .size_bytes = info_.size_bytes}; }
  Status CreateFile(bool in_memory);
  Status Begin();
  // The disk fails: takes what has arrived out of the store into memory.
  Status LeaveStore(const Error& why);
  Status Write(const Blob& bytes);
  Status WriteToStore(const Blob& bytes);
  Status WriteToFile(const Blob& bytes);
  Result<Blob> SealInStore();
  Result<Blob> SealFile();

  BlobInfo info_;
  std::string field_;
  std::string folder_;
  std::shared_ptr<File> file_;
  Sha256 hash_;
  BlobStore* store_ = nullptr;
  std::unique_ptr<BlobWriter> writer_;
  HeldBlob held_;
  std::optional<Error> left_;  // why a part of the bytes was taken out of the store
  uint64_t found_ = 0;
  uint64_t received_ = 0;
  std::optional<uint64_t> next_;  // of the client's chunks
};

}  // namespace octavo::server
