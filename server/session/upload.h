// One blob on its way in: chunks in order of offset go to an unnamed file and through the hash.
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
  // `field` is the blob's path in the spec, for messages.  The file lies in `folder`, or in
  // memory if that is empty; it has no name, so nothing is left of it after a crash.
  static Result<Upload> Open(BlobInfo info, std::string field, const std::string& folder);

  // Takes the chunk that starts where the last one ended.
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
