// SPDX-License-Identifier: Apache-2.0
#include "server/session/upload.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/descriptor.h"
#include "server/session/stored_file.h"

namespace octavo::server {

struct Upload::File : Descriptor {
  using Descriptor::Descriptor;
};

namespace {

Failure StorageError(std::string_view action) {
  return Fail(Code::kResourceExhausted, "cannot {} an upload: {}", action, std::strerror(errno))
      .Reason("STORAGE");
}

}  // namespace

Result<Upload> Upload::Open(BlobInfo info, std::string field, const std::string& folder) {
  const int fd = folder.empty() ? memfd_create("octavo-upload", MFD_CLOEXEC)
                                : open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return StorageError("store");
  return Upload(std::move(info), std::move(field), std::make_shared<File>(fd));
}

Status Upload::Add(uint64_t offset, std::string_view bytes) {
  if (offset != received_) {
    return Fail(Code::kInvalidArgument, "{}: a chunk has offset {}; the next byte is {}", field_,
                offset, received_)
        .Field("chunk.offset")
        .Reason("INVALID_CHUNK");
  }
  if (bytes.size() > info_.size_bytes - received_) {
    return Fail(Code::kInvalidArgument,
                "{}: a chunk of {} bytes at offset {} exceeds the declared size of {}", field_,
                bytes.size(), offset, info_.size_bytes)
        .Field("chunk.data")
        .Reason("INVALID_CHUNK");
  }
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = pwrite(file_->fd, bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(received_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return StorageError("write");
    done += static_cast<size_t>(wrote);
  }
  hash_.Update(bytes);
  received_ += bytes.size();
  return {};
}

Result<Blob> Upload::Seal() {
  const std::string digest = hash_.Finish();
  if (digest != info_.sha256) {
    return Fail(Code::kInvalidArgument, "{}: the {} bytes received have SHA-256 {}, not {}", field_,
                received_, digest, info_.sha256)
        .Field(field_ + ".sha256")
        .Reason("DIGEST_MISMATCH");
  }
  const auto size = static_cast<size_t>(received_);
  if (size == 0) return Blob(std::string());
  Blob bytes = MapStoredFile(file_, size);
  if (bytes.empty()) return StorageError("map");
  return bytes;
}

}  // namespace octavo::server
