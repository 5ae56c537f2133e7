// SPDX-License-Identifier: Apache-2.0
// Results of jobs that have run, by action digest.  Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <vector>

#include "server/store/result_index.h"

namespace octavo::server {

enum class CacheAnswer {
  kHit,         // the whole result is there and sound
  kMiss,        // nothing is kept, or it cannot be read now
  kIncomplete,  // a blob has been evicted
  kCorrupt,     // a blob is damaged
};
inline constexpr CacheAnswer kCacheAnswers[] = {CacheAnswer::kHit, CacheAnswer::kMiss,
                                                CacheAnswer::kIncomplete, CacheAnswer::kCorrupt};
// "hit", "miss", "incomplete", "corrupt"
std::string_view NameOf(CacheAnswer answer);

class ResultCache {
 public:
  // Both must outlive the cache.
  ResultCache(BlobStore& blobs, ResultIndex& index) : blobs_(blobs), index_(index) {}

  struct Found {
    CacheAnswer answer = CacheAnswer::kMiss;
    StoredResult result = {};          // only of a hit
    std::vector<HeldBlob> blobs = {};  // those of `result`, in its order
  };
  // Reads every byte of the result.  What is not a hit is removed from the index.
  Found Find(const std::string& action);
  // What is kept, without a look at the blobs; empty if nothing is or the index cannot be read.
  std::optional<StoredResult> Peek(const std::string& action);
  // Keeps a result with the bytes of its blobs.  Durable when it returns.
  Status Keep(const std::string& action, const StoredResult& result,
              const std::vector<Blob>& bytes);

 private:
  BlobStore& blobs_;
  ResultIndex& index_;
};

}  // namespace octavo::server
