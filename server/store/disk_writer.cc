// SPDX-License-Identifier: Apache-2.0
#include "server/store/disk_writer.h"

#include <utility>

#include "server/log/log.h"

namespace octavo::server {
namespace {

Status CheckAppend(const BlobDigest& digest, uint64_t committed, uint64_t offset, size_t bytes) {
  if (offset != committed) {
    return Fail(Code::kInvalidArgument, "a chunk has offset {}; the next byte is {}", offset,
                committed)
        .Field("chunk.offset")
        .Reason("INVALID_CHUNK");
  }
  if (bytes > digest.size_bytes - committed) {
    return Fail(Code::kInvalidArgument,
                "a chunk of {} bytes at offset {} exceeds the declared size of {}", bytes, offset,
                digest.size_bytes)
        .Field("chunk.data")
        .Reason("INVALID_CHUNK");
  }
  return {};
}

}  // namespace

Status CompleteWriter::Append(uint64_t offset, Blob bytes) {
  return CheckAppend(blob_->digest(), committed(), offset, bytes.size());
}

DiskWriter::DiskWriter(std::shared_ptr<DiskState> state, std::string name,
                       DiskState::Partial partial, bool second)
    : state_(std::move(state)),
      name_(std::move(name)),
      second_(second),
      partial_(std::move(partial)) {}

DiskWriter::~DiskWriter() {
  if (dropped_) return;
  if (second_ || partial_.committed == 0) {
    Drop();
    return;
  }
  const std::scoped_lock lock(state_->mutex);
  partial_.open = false;
  partial_.touched = state_->options.now();
  state_->partials[name_] = std::move(partial_);
}

Status DiskWriter::Prepare() {
  if (file_) return {};
  const std::string path = state_->files.PartialPath(name_);
  if (!partial_.hash) {
    HashQueue hash(state_->options.executor);
    if (partial_.committed > 0) {
      OCTAVO_TRY(const FileState found, ReadParts(path, partial_.committed,
                                                  [&](Blob part) { hash.Add(std::move(part)); }));
      if (found == FileState::kDamaged) {
        Drop();
        return Fail(Code::kResourceExhausted,
                    "the service lost the first part of an upload; send the blob again")
            .Reason("STORAGE");
      }
    }
    partial_.hash.emplace(std::move(hash));
  }
  OCTAVO_TRY(file_, OpenPartial(path, /*create=*/partial_.committed == 0));
  return {};
}

Status DiskWriter::Append(uint64_t offset, Blob bytes) {
  OCTAVO_CHECK(CheckAppend(partial_.digest, partial_.committed, offset, bytes.size()));
  OCTAVO_CHECK(Prepare());
  {
    const std::scoped_lock lock(state_->mutex);
    OCTAVO_CHECK(state_->MakeRoom(bytes.size()));
    state_->stats.bytes += bytes.size();
    state_->partials[name_].committed += bytes.size();
  }
  if (auto ok = WriteAt(file_->fd, offset, bytes.bytes()); !ok) {
    const std::scoped_lock lock(state_->mutex);
    state_->stats.bytes -= bytes.size();
    state_->partials[name_].committed -= bytes.size();
    return ok;
  }
  partial_.committed += bytes.size();
  partial_.hash->Add(std::move(bytes));
  return {};
}

Status DiskWriter::Read(uint64_t offset, std::span<std::byte> out) const {
  // The file may have been removed, but not yet closed.
  if (file_) return ReadFrom(file_->fd, offset, out);
  return ReadRange(state_->files.PartialPath(name_), offset, out);
}

Status DiskWriter::CheckHash() {
  HashQueue hash = std::move(*partial_.hash);
  partial_.hash.reset();
  const std::string found = hash.Finish();
  if (found == partial_.digest.sha256) return {};
  const bool recovered = partial_.recovered;
  Drop();
  if (recovered) {
    return Fail(Code::kResourceExhausted,
                "the part of the upload from before the service's restart, or what followed it, "
                "has another digest; send the blob again")
        .Reason("STORAGE");
  }
  return Fail(Code::kInvalidArgument, "the {} bytes received have SHA-256 {}, not {}",
              partial_.digest.size_bytes, found, partial_.digest.sha256)
      .Field("sha256")
      .Reason("DIGEST_MISMATCH");
}

Result<HeldBlob> DiskWriter::Commit() {
  if (partial_.committed != partial_.digest.size_bytes) {
    return Fail(Code::kInvalidArgument, "the upload ended after {} of {} bytes", partial_.committed,
                partial_.digest.size_bytes)
        .Reason("INCOMPLETE_UPLOAD");
  }
  OCTAVO_CHECK(Prepare());
  OCTAVO_CHECK(CheckHash());
  // After a failed fsync, the system may have discarded the bytes that it could not write.
  if (auto ok = SyncFile(file_->fd); !ok) {
    Drop();
    return tl::unexpected(ok.error());
  }
  return Publish();
}

Result<HeldBlob> DiskWriter::Publish() {
  const std::scoped_lock publishing(state_->publishing);
  {
    const std::scoped_lock lock(state_->mutex);
    if (const auto other = state_->Find(partial_.digest)) {
      state_->stats.dedup_bytes += partial_.digest.size_bytes;
      HeldBlob held = state_->Hold(other);
      if (const auto ok = state_->DropPartial(name_)) dropped_ = true;
      return held;
    }
  }
  const auto published = state_->files.Publish(name_, partial_.digest.sha256);
  if (published) Reach(Failpoint::kStorePublish);
  const std::scoped_lock lock(state_->mutex);
  if (!published) return tl::unexpected(published.error());
  // The bytes of the partial blob are now those of the complete one.
  state_->partials.erase(name_);
  state_->stats.bytes -= partial_.committed;
  dropped_ = true;
  HeldBlob held = state_->Hold(state_->Insert(partial_.digest, /*checked=*/true));
  if (const auto ok = state_->Trim(); !ok) {
    log::Warning("blobs not evicted", {{"reason", ok.error().message}});
  }
  return held;
}

void DiskWriter::Drop() {
  const std::scoped_lock lock(state_->mutex);
  dropped_ = true;
  if (const auto ok = state_->DropPartial(name_); !ok) {
    // The next Sweep or start of the service tries again.
    log::Warning("partial upload not removed", {{"reason", ok.error().message}});
    state_->partials[name_].open = false;
  }
}

}  // namespace octavo::server
