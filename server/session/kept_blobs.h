// SPDX-License-Identifier: Apache-2.0
// Blobs that the store must not evict, by job.  Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/store/blob_store.h"

namespace octavo::server {

class KeptBlobs {
 public:
  // Replaces what the job had.
  void Keep(const std::string& job_id, std::vector<HeldBlob> blobs);
  void Drop(const std::string& job_id);
  // Each blob counts once.
  uint64_t bytes() const { return bytes_; }

 private:
  std::map<std::string, std::vector<HeldBlob>> of_job_;
  std::map<std::string, size_t> users_;  // by digest
  uint64_t bytes_ = 0;
};

}  // namespace octavo::server
