// SPDX-License-Identifier: Apache-2.0
// One blob being uploaded: chunks arrive in order of offset, are hashed and written to an unnamed
// file.
// Not thread-safe.
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
  // `field` is the blob's path in the spec, for messages.  The file is created in `folder`, or in
  // memory if that is empty.  It has no name, so a crash leaves nothing behind.
  static Result<Upload> Open(BlobInfo info, std::string field, const std::string& folder);

  // Appends a chunk; its offset must be that of the next byte.
  Status Add(uint64_t offset, std::string_view bytes);
  bool complete() const { return received_ == info_.size_bytes; }
  uint64_t received() const { return received_; }
  const BlobInfo& info() const { return info_; }
  // All bytes, if their digest is the declared one.  Called once, when complete.
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
