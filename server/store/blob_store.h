// SPDX-License-Identifier: Apache-2.0
// A content-addressed store of blobs with bounded size.  All implementations pass the tests of
// tests/server/store/blob_store_contract.h.  Everything here is thread-safe, except that a
// BlobWriter is for one thread at a time.  Calls block on the disk.
//
// Errors of the medium (a full disk, EIO) are kResourceExhausted with the reason STORAGE.  They
// change nothing: the same call succeeds as soon as the medium does.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/blob.h"
#include "core/base/status.h"

namespace octavo::server {

// When to ask again after STORAGE: about the period in which a service tries whether its folder can
// be written.
inline constexpr std::chrono::seconds kStorageRetry{2};

struct BlobDigest {
  std::string sha256 = {};  // 64 lower-case hexadecimal digits
  uint64_t size_bytes = 0;

  bool operator==(const BlobDigest&) const = default;
};

// OK if `digest.sha256` is well formed; else kInvalidArgument.
Status CheckDigest(const BlobDigest& digest);

// A complete blob.  The store keeps it while this object, or a blob from Map, exists.
class StoredBlob {
 public:
  virtual ~StoredBlob() = default;
  virtual const BlobDigest& digest() const = 0;
  // Fills `out` with the bytes from `offset`.  kInvalidArgument if the range exceeds the blob.
  virtual Status Read(uint64_t offset, std::span<std::byte> out) const = 0;
  // All bytes, without a copy where the store can map them.
  virtual Result<Blob> Map() const = 0;
};
using HeldBlob = std::shared_ptr<const StoredBlob>;

// One upload.  Without Commit, the destructor keeps what was appended, and a later writer of the
// same digest continues there.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // The bytes that the store has: the offset of the next Append.
  virtual uint64_t committed() const = 0;
  // kInvalidArgument if `offset` is not committed() or the bytes exceed the blob's size.
  virtual Status Append(uint64_t offset, Blob bytes) = 0;
  // Fills `out` with bytes from `offset` that are committed, also after a failed Commit unless that
  // was DIGEST_MISMATCH.
  virtual Status Read(uint64_t offset, std::span<std::byte> out) const = 0;
  // Makes the complete blob durable and visible; nothing but Read may follow.  If the bytes do not
  // have the digest, drops them and fails with DIGEST_MISMATCH (with STORAGE if some of them were
  // kept from before the store was opened, since these may have been damaged).
  virtual Result<HeldBlob> Commit() = 0;
};

struct BlobWriteState {
  uint64_t committed_bytes = 0;
  bool complete = false;

  bool operator==(const BlobWriteState&) const = default;
};

struct StoreStats {
  uint64_t bytes = 0;  // complete and partial blobs
  uint64_t limit_bytes = 0;
  uint64_t blobs = 0;
  uint64_t partials = 0;
  // Since the store was opened:
  uint64_t evicted_bytes = 0;
  uint64_t corruptions = 0;
  uint64_t resumed = 0;      // writers that continued an earlier one's bytes
  uint64_t dedup_bytes = 0;  // bytes of blobs that were written although the store had them
};

// How thoroughly Open reads a blob before it returns it.
enum class Check {
  kAlways,  // all bytes
  kOnce,    // all bytes, unless this store has written or checked them before
  kNone,    // none: for who only holds the blob
};

class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // Null if the store lacks the blob.  A blob without its digest is counted, removed and treated as
  // absent.
  virtual Result<HeldBlob> Open(const BlobDigest& digest, Check check) = 0;
  // Does not read the bytes.  A partial blob that another writer is writing has 0 committed bytes.
  virtual Result<BlobWriteState> QueryWrite(const BlobDigest& digest) const = 0;
  // Continues a partial blob that no other writer is writing, else starts at 0.  The writer of a
  // complete blob has all bytes.  kTooLarge if the blob exceeds the store's limit.
  virtual Result<std::unique_ptr<BlobWriter>> Write(const BlobDigest& digest) = 0;
  // Drops partial blobs that no writer has touched for the store's period.
  virtual void Sweep() = 0;
  // Writes and removes a small file: OK if the store can be written now.
  virtual Status TryWrite() = 0;
  virtual StoreStats Now() const = 0;
};

// Writes a whole blob.
Result<HeldBlob> StoreBytes(BlobStore& store, const BlobDigest& digest, const Blob& bytes);

// Runs work on another thread.
using Executor = std::function<void(std::function<void()>)>;

}  // namespace octavo::server
