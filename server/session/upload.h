// SPDX-License-Identifier: Apache-2.0
// One blob during its upload: hashes the chunks in order of offset and writes them to an unnamed
// file.  Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/blob.h"
#include "core/base/sha256.h"
#include "core/base/status.h"
#include "server/session/spec.h"

namespace octavo::server {

class Upload {
 public:
  // `field` is the blob's path in the spec, for messages.  Creates the file in `folder`, or in
  // memory if `folder` is empty.  The file has no name, so a crash leaves nothing behind.
  static Result<Upload> Open(BlobInfo info, std::string field, const std::string& folder);

  // Appends a chunk; `offset` must equal received().
  Status Add(uint64_t offset, std::string_view bytes);
  bool complete() const { return received_ == info_.size_bytes; }
  uint64_t received() const { return received_; }
  const BlobInfo& info() const { return info_; }
  // Returns all bytes if their digest equals the declared one.  Call it once, when complete.
  Result<Blob> Seal();

 private:
  struct File;
  Upload(BlobInfo info, std::string field, std::shared_ptr<File> file)
      : info_(std::move(info)), field_(std::move(field)), file_(std::move(file)) {}

  BlobInfo info_;
  std::string field_;
  std::shared_ptr<File> file_;
  Sha256 hash_;
  uint64_t received_ = 0;
};

}  // namespace octavo::server
