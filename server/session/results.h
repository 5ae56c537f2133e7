// SPDX-License-Identifier: Apache-2.0
// The result of a job as blobs, and as events: for each blob a BlobInfo, then its chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/job/job.h"
#include "server/session/event.h"

namespace octavo::server {

struct ResultItem {
  BlobInfo info = {};
  Blob bytes = {};
};

struct JobResult {
  bool gate_failed = false;
  std::string message = {};
  std::vector<ResultItem> items = {};
};

// Hashes every blob.  `outcome.report_json` becomes a blob named "report.json".
JobResult ResultOf(job::Outcome outcome);

// The events of a result's blobs.
class Results {
 public:
  static constexpr uint64_t kChunkBytes = 1 << 20;

  explicit Results(std::vector<ResultItem> items) : items_(std::move(items)) {}
  // The next event; empty after the last chunk.
  std::optional<Event> Next();

 private:
  std::vector<ResultItem> items_;
  size_t item_ = 0;
  bool announced_ = false;
  uint64_t offset_ = 0;
};

}  // namespace octavo::server
