// SPDX-License-Identifier: Apache-2.0
#include "server/store/result_cache.h"

#include <utility>

#include "server/log/log.h"

namespace octavo::server {

std::string_view NameOf(CacheAnswer answer) {
  switch (answer) {
    case CacheAnswer::kHit:
      return "hit";
    case CacheAnswer::kMiss:
      return "miss";
    case CacheAnswer::kIncomplete:
      return "incomplete";
    case CacheAnswer::kCorrupt:
      return "corrupt";
  }
  return "miss";
}

ResultCache::Found ResultCache::Find(const std::string& action) {
  auto kept = Peek(action);
  if (!kept) return {};
  Found found{.answer = CacheAnswer::kHit, .result = std::move(*kept)};
  for (const ResultBlob& blob : found.result.blobs) {
    const auto state = blobs_.QueryWrite(blob.digest);
    auto held = blobs_.Open(blob.digest, Check::kAlways);
    if (!held) {
      // It may be readable later, so the entry stays.
      log::Warning("kept result not read", {{"reason", held.error().message}});
      return {};
    }
    if (!*held) {
      if (const auto removed = index_.Remove(action); !removed) {
        log::Warning("entry of a result not removed", {{"reason", removed.error().message}});
      }
      return {.answer =
                  state && state->complete ? CacheAnswer::kCorrupt : CacheAnswer::kIncomplete};
    }
    found.blobs.push_back(std::move(*held));
  }
  return found;
}

std::optional<StoredResult> ResultCache::Peek(const std::string& action) {
  auto kept = index_.Find(action);
  if (kept) return std::move(*kept);
  log::Warning("index of results not read", {{"reason", kept.error().message}});
  return std::nullopt;
}

Status ResultCache::Keep(const std::string& action, const StoredResult& result,
                         const std::vector<Blob>& bytes) {
  // Held until the index has them: otherwise a full store could evict the first for the last.
  std::vector<HeldBlob> held;
  for (size_t i = 0; i < bytes.size(); ++i) {
    OCTAVO_TRY(HeldBlob blob, StoreBytes(blobs_, result.blobs[i].digest, bytes[i]));
    held.push_back(std::move(blob));
  }
  return index_.Put(action, result);
}

}  // namespace octavo::server
