// SPDX-License-Identifier: Apache-2.0
// The results of jobs by action digest: which blobs they are, and how the job finished.
// Thread-safe; bounded: the least recently used entries go first.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/store/blob_store.h"
#include "server/store/database.h"

namespace octavo::server {

struct ResultBlob {
  uint32_t role = 0;  // the number of octavo.v1.BlobInfo.Role
  std::string name = {};
  BlobDigest digest = {};

  bool operator==(const ResultBlob&) const = default;
};

struct StoredResult {
  std::vector<ResultBlob> blobs = {};
  bool gate_failed = false;
  std::string message = {};

  bool operator==(const StoredResult&) const = default;
};

class ResultIndex {
 public:
  // The order of use survives a clock that jumps.
  explicit ResultIndex(
      Database& database, uint64_t most = 100'000,
      std::function<std::chrono::system_clock::time_point()> now = &std::chrono::system_clock::now)
      : database_(database), most_(most), now_(std::move(now)) {}

  // Replaces what the action had.  Durable when it returns.
  Status Put(const std::string& action, const StoredResult& result);
  Result<std::optional<StoredResult>> Find(const std::string& action);
  Status Remove(const std::string& action);

 private:
  int64_t Milliseconds() const;

  Database& database_;
  const uint64_t most_;
  const std::function<std::chrono::system_clock::time_point()> now_;
};

}  // namespace octavo::server
