// SPDX-License-Identifier: Apache-2.0
// What the store on disk, its writers and its blobs share: the index of the files.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "server/store/disk_blob_store.h"
#include "server/store/disk_files.h"
#include "server/store/hash_queue.h"

namespace octavo::server {

class DiskState : public std::enable_shared_from_this<DiskState> {
 public:
  struct Entry {
    BlobDigest digest = {};
    uint64_t used = 0;  // larger is later
    int holds = 0;
    bool checked = false;  // this store has written or read all bytes
  };
  using EntryPtr = std::shared_ptr<Entry>;

  struct Partial {
    BlobDigest digest = {};
    uint64_t committed = 0;
    bool open = false;
    std::chrono::steady_clock::time_point touched = {};
    // Of the committed bytes; empty where they must be read again.
    std::optional<HashQueue> hash = {};
    bool recovered = false;  // has bytes from before the store was opened
  };

  DiskState(DiskStoreOptions given, DiskFiles opened)
      : options(std::move(given)), files(std::move(opened)) {}
  Status Load();

  // The following require `mutex`, but for Hold's result, which locks it at its end.
  EntryPtr Find(const BlobDigest& digest) const;
  EntryPtr Insert(const BlobDigest& digest, bool checked);
  void Use(const EntryPtr& entry);
  HeldBlob Hold(const EntryPtr& entry);
  // Removes the file, too.
  Status Remove(const EntryPtr& entry);
  // Evicts blobs until the limits hold or all are held.
  Status Trim();
  // Evicts blobs, then drops partial ones, until `bytes` more fit.
  Status MakeRoom(uint64_t bytes);
  bool HasIdlePartial() const;
  Status DropPartial(const std::string& name);
  // Drops the partial blob that was not touched for the longest time.
  Status DropOldestPartial();

  const DiskStoreOptions options;
  const DiskFiles files;
  // Held while a blob is published.  Locked before `mutex`.
  std::mutex publishing;
  mutable std::mutex mutex;
  std::map<std::string, Partial> partials;  // by file name
  StoreStats stats;                         // without `blobs` and `partials`
  size_t blob_count() const { return blobs_.size(); }

 private:
  Status Evict(const EntryPtr& entry);

  std::map<std::string, EntryPtr> blobs_;  // by digest
  std::map<uint64_t, EntryPtr> by_use_;
  uint64_t last_use_ = 0;
};

}  // namespace octavo::server
