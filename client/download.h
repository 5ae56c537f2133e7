// SPDX-License-Identifier: Apache-2.0
// Receives the results of a call and checks their sizes, offsets and digests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/sha256.h"
#include "core/job/job.h"
#include "octavo/v1/optimizer.pb.h"

namespace octavo::client {

class Download {
 public:
  Status Begin(const v1::BlobInfo& info);
  Status Add(const v1::Chunk& chunk);
  // Returns the outcome.  kUnavailable if the stream ended early.
  Result<job::Outcome> Finish(const v1::Finished& finished);
  uint64_t received() const { return received_; }
  uint64_t announced() const { return announced_; }

 private:
  struct Item {
    v1::BlobInfo info = {};
    std::string bytes = {};
    Sha256 hash = {};
  };
  std::vector<Item> items_;
  uint64_t received_ = 0;
  uint64_t announced_ = 0;
};

}  // namespace octavo::client
