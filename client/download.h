// SPDX-License-Identifier: Apache-2.0
// Receives the results of a call and checks their sizes, offsets and digests.  Large results are
// files in `folder`, or in TMPDIR if it is empty, that the outcome maps (ReceivedBytes); memory
// holds one chunk and the report.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/received_bytes.h"
#include "core/base/sha256.h"
#include "core/job/job.h"
#include "octavo/v1/optimizer.pb.h"

namespace octavo::client {

class Download {
 public:
  explicit Download(std::string folder = {}) : folder_(std::move(folder)) {}
  Status Begin(const v1::BlobInfo& info);
  Status Add(const v1::Chunk& chunk);
  // Returns the outcome.  kUnavailable if the stream ended early.
  Result<job::Outcome> Finish(const v1::Finished& finished);
  uint64_t received() const { return received_; }
  uint64_t announced() const { return announced_; }

 private:
  struct Item {
    v1::BlobInfo info = {};
    ReceivedBytes bytes;
    Sha256 hash = {};
  };
  const std::string folder_;
  std::vector<Item> items_;
  uint64_t received_ = 0;
  uint64_t announced_ = 0;
};

}  // namespace octavo::client
