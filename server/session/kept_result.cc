// SPDX-License-Identifier: Apache-2.0
#include "server/session/kept_result.h"

#include <utility>

#include "server/log/log.h"

namespace octavo::server {
namespace {

ResultBlob ToStored(const BlobInfo& info) {
  return {.role = static_cast<uint32_t>(info.role) + 1,  // 0 is ROLE_UNSPECIFIED
          .name = info.name,
          .digest = {.sha256 = info.sha256, .size_bytes = info.size_bytes}};
}

BlobInfo FromStored(const ResultBlob& blob) {
  return {.role = static_cast<Role>(blob.role - 1),
          .name = blob.name,
          .size_bytes = blob.digest.size_bytes,
          .sha256 = blob.digest.sha256};
}

}  // namespace

KeptResult FindKept(ResultCache& cache, const std::string& action) {
  const ResultCache::Found found = cache.Find(action);
  if (found.answer != CacheAnswer::kHit) return {.answer = found.answer};
  JobResult result{.gate_failed = found.result.gate_failed, .message = found.result.message};
  for (size_t i = 0; i < found.blobs.size(); ++i) {
    auto bytes = found.blobs[i]->Map();
    if (!bytes) {
      log::Warning("kept result not read", {{"reason", bytes.error().message}});
      return {};
    }
    result.items.push_back({.info = FromStored(found.result.blobs[i]), .bytes = std::move(*bytes)});
  }
  return {.answer = found.answer, .result = std::move(result)};
}

StoredResult StoredOf(const JobResult& result) {
  StoredResult stored = {.gate_failed = result.gate_failed, .message = result.message};
  for (const ResultItem& item : result.items) stored.blobs.push_back(ToStored(item.info));
  return stored;
}

void KeepResult(ResultCache& cache, const std::string& action, const JobResult& result) {
  std::vector<Blob> bytes;
  for (const ResultItem& item : result.items) bytes.push_back(item.bytes);
  if (auto ok = cache.Keep(action, StoredOf(result), bytes); !ok) {
    log::Warning("result not kept", {{"action", action}, {"reason", ok.error().message}});
  }
}

Status CompareOrKeep(ResultCache& cache, const std::string& action, const JobResult& result,
                     bool deterministic) {
  const auto kept = cache.Peek(action);
  if (!kept) {
    KeepResult(cache, action, result);
    return {};
  }
  const auto differs = [&](const std::string& what) -> Status {
    return Fail(Code::kInternal,
                "the job's result differs from the one kept for {}: {}; a job must give the same "
                "bytes each time",
                action, what);
  };
  if (result.items.size() != kept->blobs.size()) {
    return differs(fmt::format("{} files, not {}", result.items.size(), kept->blobs.size()));
  }
  for (size_t i = 0; i < result.items.size(); ++i) {
    const ResultBlob computed = ToStored(result.items[i].info);
    if (result.items[i].info.role == Role::kReport && !deterministic) continue;
    if (computed == kept->blobs[i]) continue;
    return differs(fmt::format("'{}' has SHA-256 {}, not {}", computed.name, computed.digest.sha256,
                               kept->blobs[i].digest.sha256));
  }
  return {};
}

}  // namespace octavo::server
