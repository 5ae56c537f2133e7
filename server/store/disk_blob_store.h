// SPDX-License-Identifier: Apache-2.0
// The blob store in a folder (disk_files.h describes its files).  At most one process uses a
// folder. When the store is full, or has too many blobs, the least recently used blob goes first,
// never one that is held.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/store/blob_store.h"

namespace octavo::server {

struct DiskStoreOptions {
  std::string folder = {};
  uint64_t limit_bytes = uint64_t{20} << 30;  // complete and partial blobs together
  size_t blobs = 262'144;                     // complete ones: 100 MiB of memory for their index
  size_t partials = 1024;                     // the oldest goes when there are more
  // Of a partial blob since it was last written or, for one from before, since the store was
  // opened: by a clock that never jumps.
  std::chrono::seconds partial_age = std::chrono::hours(1);
  // Hashes while writers store; empty: writers hash themselves.  Must outlive the store, its
  // writers and blobs.
  Executor executor = {};
  std::function<std::chrono::steady_clock::time_point()> now = &std::chrono::steady_clock::now;
};

// Fails with kUsage if the folder cannot be created, locked or written.
Result<std::unique_ptr<BlobStore>> OpenDiskStore(DiskStoreOptions options);

}  // namespace octavo::server
