// SPDX-License-Identifier: Apache-2.0
// What all calls of the service Blobs share.
#pragma once

#include <span>
#include <vector>

#include "server/blobs/transfers.h"
#include "server/pool/event_loop.h"
#include "server/pool/work_pool.h"
#include "server/session/job_probe.h"
#include "server/session/limits.h"
#include "server/store/blob_store.h"

namespace octavo::server {

// Must outlive its calls.
struct BlobServices {
  Limits limits = {};
  BlobStore& store;
  // Not that of the jobs' sessions: to continue an upload after a restart, a thread reads and
  // hashes what has arrived.
  WorkPool& pool;
  EventLoop& loop;
  JobProbe& probe;
  Transfers writes{limits.uploads};
  Transfers reads{limits.uploads};

  // Ends all transfers with DRAINING; what has arrived is kept.
  void Drain() {
    writes.Drain();
    reads.Drain();
  }
};

inline constexpr uint64_t kBlobChunkBytes = uint64_t{1} << 20;
inline constexpr size_t kMostDigests = 4096;

// An error of the store as the status of a call: with RetryInfo if the medium may recover.
CallStatus FromStore(Error error);

// Those of `digests` that the store lacks.  kInvalidArgument names the one that is malformed.
// Marks the others as used, so that they are not evicted before the caller's job names them.
Result<std::vector<BlobDigest>> FindMissing(BlobStore& store, std::span<const BlobDigest> digests);

}  // namespace octavo::server
