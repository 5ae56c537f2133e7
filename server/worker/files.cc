// SPDX-License-Identifier: Apache-2.0
#include "server/worker/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/mapped_pages.h"
#include "server/log/log.h"
#include "server/store/stored_file.h"

namespace octavo::server::worker {
namespace {

Failure StorageError(std::string_view action) {
  return Fail(Code::kResourceExhausted, "cannot {} of a worker: {}", action, std::strerror(errno))
      .Reason("STORAGE");
}

Result<std::unique_ptr<Descriptor>> SealedCopy(std::span<const std::byte> bytes) {
  auto copy =
      std::make_unique<Descriptor>(memfd_create("octavo-input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (copy->fd < 0) return StorageError("copy an input");
  while (!bytes.empty()) {
    const ssize_t written = write(copy->fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return StorageError("copy an input");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  if (fcntl(copy->fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return StorageError("seal an input");
  }
  return copy;
}

}  // namespace

Result<std::unique_ptr<Descriptor>> OpenForReading(const Blob& blob) {
  const int file = FileOf(blob);
  if (file < 0) return SealedCopy(blob.bytes());
  // The server's descriptor can write; one opened through /proc need not.
  const std::string link = fmt::format("/proc/self/fd/{}", file);
  auto opened = std::make_unique<Descriptor>(open(link.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened->fd < 0) return StorageError("open an input");
  return opened;
}

Result<std::unique_ptr<Descriptor>> NewOutput(const std::string& folder) {
  int fd = folder.empty() ? -1 : open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && !folder.empty())
    log::Warning("output in memory", {{"reason", std::strerror(errno)}});
  if (fd < 0) fd = memfd_create("octavo-output", MFD_CLOEXEC);
  if (fd < 0) return StorageError("create the output");
  return std::make_unique<Descriptor>(fd);
}

Result<Blob> MapOutput(const Descriptor& output) {
  struct stat status {};
  if (fstat(output.fd, &status) != 0) return StorageError("read the output");
  if (status.st_size == 0) return Blob(std::string());
  Blob mapped = MapDescriptor(output.fd, static_cast<size_t>(status.st_size));
  if (mapped.empty()) return StorageError("map the output");
  return mapped;
}

}  // namespace octavo::server::worker
