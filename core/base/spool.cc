// SPDX-License-Identifier: Apache-2.0
#include "core/base/spool.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/base/mapped_pages.h"

namespace octavo {
namespace {

Failure StorageError(std::string_view action) {
  return Fail(Code::kResourceExhausted, "cannot {} a temporary file: {}", action,
              std::strerror(errno))
      .Reason("STORAGE");
}

}  // namespace

Spool::Spool() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return;
  // mkostemp replaces the six X at the end of the name.
  std::string name = folder / "octavo-XXXXXX";
  auto file = std::make_unique<Descriptor>(mkostemp(name.data(), O_CLOEXEC));
  if (file->fd < 0) return;
  unlink(name.c_str());
  file_ = std::move(file);
}

Status Spool::Append(std::span<const std::byte> part) {
  size_ += part.size();
  if (!file_) {
    held_.append(reinterpret_cast<const char*>(part.data()), part.size());
    return {};
  }
  while (!part.empty()) {
    const ssize_t written = write(file_->fd, part.data(), part.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return StorageError("write");
    part = part.subspan(static_cast<size_t>(written));
  }
  return {};
}

Result<Blob> Spool::Finish() {
  if (!file_) return Blob(std::move(held_));
  if (size_ == 0) return Blob(std::string());
  const Blob mapped = MapDescriptor(file_->fd, size_);
  if (mapped.empty()) return StorageError("map");
  return mapped;
}

}  // namespace octavo
