// SPDX-License-Identifier: Apache-2.0
// Immutable bytes with shared ownership: read into memory, mapped from a file, or a view into
// another blob that it keeps alive.  Copying copies a pointer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace octavo {

class Blob {
 public:
  Blob() = default;
  explicit Blob(std::string bytes);
  explicit Blob(std::vector<std::byte> bytes);
  // `owner` keeps `bytes` alive.
  Blob(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}

  // Maps a regular file read-only.  kUsage if it does not exist or cannot be read.
  static Result<Blob> MapFile(const std::string& path);

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  // The part [offset, offset + size); must be within the blob.
  Blob Slice(size_t offset, size_t size) const {
    return Blob(owner_, bytes_.subspan(offset, size));
  }
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

// Writes a file atomically (temporary name, then rename).  kUsage on failure.
Status WriteFile(const std::string& path, std::span<const std::byte> bytes);
Status WriteFile(const std::string& path, std::string_view text);

}  // namespace octavo
