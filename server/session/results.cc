// SPDX-License-Identifier: Apache-2.0
#include "server/session/results.h"

#include <algorithm>
#include <utility>

#include "core/base/sha256.h"

namespace octavo::server {

namespace {

void Add(std::vector<ResultItem>& items, Role role, job::NamedBlob blob) {
  items.push_back({.info = {.role = role,
                            .name = std::move(blob.name),
                            .size_bytes = blob.bytes.size(),
                            .sha256 = Sha256Of(blob.bytes.bytes())},
                   .bytes = blob.bytes});
}

}  // namespace

JobResult ResultOf(job::Outcome outcome) {
  JobResult result{.gate_failed = outcome.gate_failed, .message = std::move(outcome.message)};
  Add(result.items, Role::kOptimizedModel, std::move(outcome.model));
  for (job::NamedBlob& blob : outcome.external) {
    Add(result.items, Role::kExternal, std::move(blob));
  }
  for (job::NamedBlob& blob : outcome.snapshots) {
    Add(result.items, Role::kSnapshot, std::move(blob));
  }
  Add(result.items, Role::kReport,
      {.name = "report.json", .bytes = Blob(std::move(outcome.report_json))});
  return result;
}

std::optional<Event> Results::Next() {
  while (item_ < items_.size()) {
    const ResultItem& item = items_[item_];
    if (!std::exchange(announced_, true)) return item.info;
    if (offset_ < item.bytes.size()) {
      const uint64_t size = std::min<uint64_t>(kChunkBytes, item.bytes.size() - offset_);
      ChunkEvent chunk{.blob = static_cast<uint32_t>(item_),
                       .offset = offset_,
                       .bytes = item.bytes.Slice(offset_, size)};
      offset_ += size;
      return chunk;
    }
    ++item_;
    announced_ = false;
    offset_ = 0;
  }
  return std::nullopt;
}

}  // namespace octavo::server
