// SPDX-License-Identifier: Apache-2.0
#include "server/store/disk_state.h"

#include <algorithm>
#include <utility>

namespace octavo::server {
namespace {

// Opens the file for each read: a held blob costs no descriptor.
class DiskBlob : public StoredBlob, public std::enable_shared_from_this<DiskBlob> {
 public:
  DiskBlob(std::shared_ptr<DiskState> state, DiskState::EntryPtr entry)
      : state_(std::move(state)), entry_(std::move(entry)) {}
  ~DiskBlob() override {
    const std::scoped_lock lock(state_->mutex);
    --entry_->holds;
  }

  const BlobDigest& digest() const override { return entry_->digest; }

  Status Read(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > digest().size_bytes || out.size() > digest().size_bytes - offset) {
      return Fail(Code::kInvalidArgument, "bytes {} to {} are not in a blob of {}", offset,
                  offset + out.size(), digest().size_bytes)
          .Field("offset");
    }
    return ReadRange(Path(), offset, out);
  }

  Result<Blob> Map() const override {
    // The mapping holds this object, so that the store does not count its bytes as free.
    return MapWhole(Path(), digest().size_bytes, shared_from_this());
  }

 private:
  std::string Path() const { return state_->files.BlobPath(digest().sha256); }

  const std::shared_ptr<DiskState> state_;
  const DiskState::EntryPtr entry_;
};

}  // namespace

Status DiskState::Load() {
  const std::scoped_lock lock(mutex);
  stats.limit_bytes = options.limit_bytes;
  OCTAVO_TRY(DiskFiles::Contents contents, files.Scan());
  const auto earlier = [](const DiskFiles::Found& a, const DiskFiles::Found& b) {
    return a.modified < b.modified;
  };
  std::sort(contents.blobs.begin(), contents.blobs.end(), earlier);
  for (const auto& found : contents.blobs) Insert(found.digest, /*checked=*/false);
  std::sort(contents.partials.begin(), contents.partials.end(), earlier);
  auto touched = options.now() - std::chrono::microseconds(contents.partials.size());
  for (const auto& found : contents.partials) {
    touched += std::chrono::microseconds(1);  // in their order
    partials.emplace(PartialName(found.digest), Partial{.digest = found.digest,
                                                        .committed = found.bytes,
                                                        .touched = touched,
                                                        .recovered = true});
    stats.bytes += found.bytes;
  }
  while (partials.size() > options.partials) OCTAVO_CHECK(DropOldestPartial());
  return Trim();
}

DiskState::EntryPtr DiskState::Find(const BlobDigest& digest) const {
  const auto found = blobs_.find(digest.sha256);
  const bool same = found != blobs_.end() && found->second->digest == digest;
  return same ? found->second : nullptr;
}

DiskState::EntryPtr DiskState::Insert(const BlobDigest& digest, bool checked) {
  auto entry =
      std::make_shared<Entry>(Entry{.digest = digest, .used = ++last_use_, .checked = checked});
  stats.bytes += digest.size_bytes;
  by_use_.emplace(entry->used, entry);
  blobs_.emplace(digest.sha256, entry);
  return entry;
}

void DiskState::Use(const EntryPtr& entry) {
  by_use_.erase(entry->used);
  entry->used = ++last_use_;
  by_use_.emplace(entry->used, entry);
  TouchFile(files.BlobPath(entry->digest.sha256));
}

HeldBlob DiskState::Hold(const EntryPtr& entry) {
  ++entry->holds;
  return std::make_shared<DiskBlob>(shared_from_this(), entry);
}

Status DiskState::Remove(const EntryPtr& entry) {
  OCTAVO_CHECK(RemoveFile(files.BlobPath(entry->digest.sha256)));
  stats.bytes -= entry->digest.size_bytes;
  by_use_.erase(entry->used);
  blobs_.erase(entry->digest.sha256);
  return {};
}

Status DiskState::Evict(const EntryPtr& entry) {
  OCTAVO_CHECK(Remove(entry));
  stats.evicted_bytes += entry->digest.size_bytes;
  return {};
}

Status DiskState::Trim() {
  auto next = by_use_.begin();
  while (next != by_use_.end() &&
         (stats.bytes > options.limit_bytes || blobs_.size() > options.blobs)) {
    const EntryPtr entry = (next++)->second;
    if (entry->holds == 0) OCTAVO_CHECK(Evict(entry));
  }
  return {};
}

Status DiskState::MakeRoom(uint64_t bytes) {
  auto next = by_use_.begin();
  while (stats.bytes > options.limit_bytes || bytes > options.limit_bytes - stats.bytes) {
    while (next != by_use_.end() && next->second->holds > 0) ++next;
    if (next == by_use_.end()) {
      if (bytes == 0) return {};
      if (HasIdlePartial()) {
        OCTAVO_CHECK(DropOldestPartial());
        continue;
      }
      return Fail(Code::kResourceExhausted,
                  "the service's store is full: jobs and uploads use all {} bytes of its limit",
                  options.limit_bytes)
          .Reason("STORAGE");
    }
    OCTAVO_CHECK(Evict(EntryPtr((next++)->second)));
  }
  return {};
}

bool DiskState::HasIdlePartial() const {
  return std::any_of(partials.begin(), partials.end(),
                     [](const auto& named) { return !named.second.open; });
}

Status DiskState::DropPartial(const std::string& name) {
  const auto found = partials.find(name);
  if (found == partials.end()) return {};
  OCTAVO_CHECK(RemoveFile(files.PartialPath(name)));
  stats.bytes -= found->second.committed;
  partials.erase(found);
  return {};
}

Status DiskState::DropOldestPartial() {
  const auto order = [](const auto& a, const auto& b) {
    return std::pair(a.second.open, a.second.touched) < std::pair(b.second.open, b.second.touched);
  };
  const auto oldest = std::min_element(partials.begin(), partials.end(), order);
  if (oldest == partials.end() || oldest->second.open) {
    return Fail(Code::kResourceExhausted, "{} uploads are in progress, which is the limit",
                partials.size())
        .Reason("OVERLOADED");
  }
  return DropPartial(std::string(oldest->first));
}

}  // namespace octavo::server
