// SPDX-License-Identifier: Apache-2.0
#include "server/session/kept_blobs.h"

#include <utility>

namespace octavo::server {

void KeptBlobs::Keep(const std::string& job_id, std::vector<HeldBlob> blobs) {
  std::erase(blobs, nullptr);
  for (const HeldBlob& blob : blobs) {
    if (users_[blob->digest().sha256]++ == 0) bytes_ += blob->digest().size_bytes;
  }
  Drop(job_id);
  if (!blobs.empty()) of_job_.emplace(job_id, std::move(blobs));
}

void KeptBlobs::Drop(const std::string& job_id) {
  const auto found = of_job_.find(job_id);
  if (found == of_job_.end()) return;
  for (const HeldBlob& blob : found->second) {
    const auto user = users_.find(blob->digest().sha256);
    if (--user->second > 0) continue;
    bytes_ -= blob->digest().size_bytes;
    users_.erase(user);
  }
  of_job_.erase(found);
}

}  // namespace octavo::server
