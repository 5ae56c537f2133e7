// SPDX-License-Identifier: Apache-2.0
// Converts the results of a job to events: for each blob a BlobInfo, then its chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/job/job.h"
#include "server/session/event.h"

namespace octavo::server {

class Results {
 public:
  static constexpr uint64_t kChunkBytes = 1 << 20;

  // Hashes every blob.  `outcome.report_json` becomes a blob named "report.json".
  explicit Results(job::Outcome outcome);
  // The next event; empty after the last chunk.
  std::optional<Event> Next();
  uint64_t total_bytes() const { return total_bytes_; }

 private:
  struct Item {
    BlobInfo info = {};
    Blob bytes = {};
  };
  void Add(Role role, job::NamedBlob blob);

  std::vector<Item> items_;
  uint64_t total_bytes_ = 0;
  size_t item_ = 0;
  bool announced_ = false;
  uint64_t offset_ = 0;
};

}  // namespace octavo::server
