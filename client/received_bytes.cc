// SPDX-License-Identifier: Apache-2.0
#include "client/received_bytes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/mapped_pages.h"

namespace octavo::client {
namespace {

Failure CannotWrite(const std::string& where, int error) {
  return Fail(Code::kInternal, "cannot store a result in '{}': {}", where, std::strerror(error))
      .Field(where)
      .Reason("IO");
}

// A file without a name: it goes with its descriptor, however the process ends.
int OpenUnnamed(const std::string& folder) {
  std::string name = folder + "/.octavo-XXXXXX";  // mkostemp replaces the six X
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

}  // namespace

Status ReceivedBytes::Create() {
  int fd = folder_.empty() ? -1 : OpenUnnamed(folder_);
  if (fd < 0) {
    std::error_code error;
    folder_ = std::filesystem::temp_directory_path(error).string();
    if (error) return CannotWrite("TMPDIR", error.value());
    fd = OpenUnnamed(folder_);
  }
  if (fd < 0) return CannotWrite(folder_, errno);
  file_ = std::make_shared<Descriptor>(fd);
  return {};
}

Status ReceivedBytes::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (announced_ <= kInMemory) {
    memory_ += bytes;
    return {};
  }
  if (!file_) OCTAVO_CHECK(Create());
  while (!bytes.empty()) {
    const ssize_t written = write(file_->fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return CannotWrite(folder_, written == 0 ? EIO : errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<Blob> ReceivedBytes::Finish() {
  if (!file_) return Blob(std::move(memory_));
  Blob mapped = MapDescriptor(file_->fd, size_);
  if (mapped.empty()) return CannotWrite(folder_, errno);
  return mapped;
}

}  // namespace octavo::client
