// SPDX-License-Identifier: Apache-2.0
#include "server/session/upload.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "core/base/descriptor.h"
#include "server/log/log.h"
#include "server/store/disk_files.h"
#include "server/store/stored_file.h"

namespace octavo::server {

struct Upload::File : Descriptor {
  using Descriptor::Descriptor;
};

namespace {

constexpr uint64_t kPart = uint64_t{1} << 20;

Failure StorageError(std::string_view action) {
  return Fail(Code::kResourceExhausted, "cannot {} an upload: {}", action, std::strerror(errno))
      .Reason("STORAGE");
}

// A blob whose first byte can be read: what the client is not asked for must be there.
Result<HeldBlob> OpenReadable(BlobStore& store, const BlobDigest& digest) {
  OCTAVO_TRY(HeldBlob held, store.Open(digest, Check::kOnce));
  std::byte first = {};
  if (held && digest.size_bytes > 0) OCTAVO_CHECK(held->Read(0, std::span(&first, 1)));
  return held;
}

}  // namespace

Status Upload::CreateFile(bool in_memory) {
  int fd = in_memory ? -1 : open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && !in_memory) {
    log::Warning("upload in memory", {{"reason", std::strerror(errno)}});
  }
  if (fd < 0) fd = memfd_create("octavo-upload", MFD_CLOEXEC);
  if (fd < 0) return StorageError("store");
  file_ = std::make_shared<File>(fd);
  return {};
}

Status Upload::TryFolder(const std::string& folder) {
  if (folder.empty()) return {};
  const auto unusable = [&] {
    return Fail(Code::kUsage, "--state-dir: cannot write to '{}': {}", folder, std::strerror(errno))
        .Field("--state-dir");
  };
  if (!CreateFolder(folder)) return unusable();
  const File file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.fd < 0 || pwrite(file.fd, "x", 1, 0) != 1) return unusable();
  return {};
}

Status Upload::FindIn(BlobStore& store) {
  store_ = &store;
  auto held = OpenReadable(store, Digest());
  if (!held) {
    if (held.error().reason != "STORAGE") return Forward(std::move(held).error());
    return LeaveStore(held.error());
  }
  held_ = std::move(*held);
  if (held_) {
    found_ = received_ = info_.size_bytes;
    return {};
  }
  OCTAVO_TRY(const BlobWriteState state, store.QueryWrite(Digest()));
  if (state.committed_bytes == 0) return {};
  OCTAVO_TRY(writer_, store.Write(Digest()));
  found_ = received_ = writer_->committed();
  return {};
}

Status Upload::Begin() {
  if (store_ != nullptr) {
    auto writer = store_->Write(Digest());
    if (writer) {
      writer_ = std::move(*writer);
      return {};
    }
    // A blob over the store's limit is not kept.
    if (writer.error().code != Code::kTooLarge) return Forward(std::move(writer).error());
  }
  return CreateFile(/*in_memory=*/folder_.empty());
}

Status Upload::LeaveStore(const Error& why) {
  log::Warning("upload in memory", {{"reason", why.message}});
  const auto writer = std::exchange(writer_, nullptr);
  store_ = nullptr;
  OCTAVO_CHECK(CreateFile(/*in_memory=*/true));
  const uint64_t all = std::exchange(received_, 0);
  if (all > 0) left_ = why;
  while (received_ < all) {
    std::string part(std::min<uint64_t>(kPart, all - received_), '\0');
    OCTAVO_CHECK(writer->Read(received_, std::as_writable_bytes(std::span(part))));
    const uint64_t size = part.size();
    OCTAVO_CHECK(WriteToFile(Blob(std::move(part))));
    received_ += size;
  }
  return {};
}

Status Upload::CheckChunk(uint64_t offset, const Blob& bytes) const {
  const bool fits = next_ ? offset == *next_ : offset == 0 || offset == found_;
  if (!fits) {
    return Fail(Code::kInvalidArgument, "{}: a chunk has offset {}; the next byte is {}", field_,
                offset, next_.value_or(found_))
        .Field("chunk.offset")
        .Reason("INVALID_CHUNK");
  }
  if (bytes.size() > info_.size_bytes - offset) {
    return Fail(Code::kInvalidArgument,
                "{}: a chunk of {} bytes at offset {} exceeds the declared size of {}", field_,
                bytes.size(), offset, info_.size_bytes)
        .Field("chunk.data")
        .Reason("INVALID_CHUNK");
  }
  return {};
}

Status Upload::Add(uint64_t offset, const Blob& bytes) {
  OCTAVO_CHECK(CheckChunk(offset, bytes));
  next_ = offset + bytes.size();
  if (*next_ <= received_) return {};
  const uint64_t known = received_ - offset;
  OCTAVO_CHECK(Write(bytes.Slice(known, bytes.size() - known)));
  received_ = *next_;
  return {};
}

Status Upload::Write(const Blob& bytes) {
  if (file_ == nullptr && writer_ == nullptr) OCTAVO_CHECK(Begin());
  if (writer_ == nullptr) return WriteToFile(bytes);
  auto stored = WriteToStore(bytes);
  if (stored || stored.error().reason != "STORAGE") return stored;
  OCTAVO_CHECK(LeaveStore(stored.error()));
  return WriteToFile(bytes);
}

Status Upload::WriteToStore(const Blob& bytes) {
  // Another session may have written the blob, or a part of it, since FindIn.
  const uint64_t known = std::max(writer_->committed(), received_) - received_;
  if (known >= bytes.size()) return {};
  return writer_->Append(received_ + known, bytes.Slice(known, bytes.size() - known));
}

Status Upload::WriteToFile(const Blob& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = pwrite(file_->fd, bytes.bytes().data() + done, bytes.size() - done,
                                 static_cast<off_t>(received_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return StorageError("write");
    done += static_cast<size_t>(wrote);
  }
  hash_.Update(bytes.text());
  return {};
}

Result<Blob> Upload::Seal() {
  if (!held_ && !writer_) return SealFile();
  auto stored = SealInStore();
  if (stored || stored.error().reason != "STORAGE" || !writer_) return stored;
  // The writer's bytes are those that the disk did not take.
  OCTAVO_CHECK(LeaveStore(stored.error()));
  return SealFile();
}

Result<Blob> Upload::SealInStore() {
  if (!held_) {
    auto committed = writer_->Commit();
    if (!committed) {
      Error error = std::move(committed).error();
      error.message = fmt::format("{}: {}", field_, error.message);
      if (error.reason == "DIGEST_MISMATCH") error.field = field_ + ".sha256";
      return Forward(std::move(error));
    }
    writer_ = nullptr;
    held_ = std::move(*committed);
  }
  return std::exchange(held_, nullptr)->Map();
}

Result<Blob> Upload::SealFile() {
  const std::string digest = hash_.Finish();
  if (digest != info_.sha256) {
    if (left_) return Forward(*left_);  // the disk may have changed them
    return Fail(Code::kInvalidArgument, "{}: the {} bytes received have SHA-256 {}, not {}", field_,
                received_, digest, info_.sha256)
        .Field(field_ + ".sha256")
        .Reason("DIGEST_MISMATCH");
  }
  const auto size = static_cast<size_t>(received_);
  if (size == 0) return Blob(std::string());
  Blob bytes = MapStoredFile(std::exchange(file_, nullptr), size);
  if (bytes.empty()) return StorageError("map");
  return bytes;
}

}  // namespace octavo::server
