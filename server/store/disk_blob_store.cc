// SPDX-License-Identifier: Apache-2.0
#include "server/store/disk_blob_store.h"

#include <mutex>
#include <utility>
#include <vector>

#include "server/log/log.h"
#include "server/store/disk_state.h"
#include "server/store/disk_writer.h"

namespace octavo::server {
namespace {

class DiskBlobStore : public BlobStore {
 public:
  explicit DiskBlobStore(std::shared_ptr<DiskState> state) : state_(std::move(state)) {}

  Result<HeldBlob> Open(const BlobDigest& digest, Check check) override;
  Result<BlobWriteState> QueryWrite(const BlobDigest& digest) const override;
  Result<std::unique_ptr<BlobWriter>> Write(const BlobDigest& digest) override;
  void Sweep() override;
  Status TryWrite() override { return state_->files.TryWrite(); }
  StoreStats Now() const override;

 private:
  void RemoveDamaged(const DiskState::EntryPtr& entry);

  const std::shared_ptr<DiskState> state_;
};

Result<HeldBlob> DiskBlobStore::Open(const BlobDigest& digest, Check check) {
  OCTAVO_CHECK(CheckDigest(digest));
  DiskState::EntryPtr entry;
  HeldBlob held;
  bool checked = false;
  {
    const std::scoped_lock lock(state_->mutex);
    entry = state_->Find(digest);
    if (!entry) return HeldBlob();
    state_->Use(entry);
    held = state_->Hold(entry);
    checked = check == Check::kNone || (entry->checked && check == Check::kOnce);
  }
  if (checked) return held;
  OCTAVO_TRY(const FileState found, CheckFile(state_->files.BlobPath(digest.sha256), digest));
  const std::scoped_lock lock(state_->mutex);
  entry->checked = found == FileState::kSound;
  if (found == FileState::kSound) return held;
  RemoveDamaged(entry);
  return HeldBlob();
}

void DiskBlobStore::RemoveDamaged(const DiskState::EntryPtr& entry) {
  // Another call may have removed it, and a writer may have written it again.
  if (state_->Find(entry->digest) != entry) return;
  ++state_->stats.corruptions;
  const auto removed = state_->Remove(entry);
  log::Warning("damaged blob", {{"sha256", entry->digest.sha256},
                                {"size_bytes", entry->digest.size_bytes},
                                {"removed", removed.has_value()}});
}

Result<BlobWriteState> DiskBlobStore::QueryWrite(const BlobDigest& digest) const {
  OCTAVO_CHECK(CheckDigest(digest));
  const std::scoped_lock lock(state_->mutex);
  if (state_->Find(digest)) {
    return BlobWriteState{.committed_bytes = digest.size_bytes, .complete = true};
  }
  const auto partial = state_->partials.find(PartialName(digest));
  if (partial == state_->partials.end() || partial->second.open) return BlobWriteState{};
  return BlobWriteState{.committed_bytes = partial->second.committed};
}

Result<std::unique_ptr<BlobWriter>> DiskBlobStore::Write(const BlobDigest& digest) {
  OCTAVO_CHECK(CheckDigest(digest));
  if (digest.size_bytes > state_->options.limit_bytes) {
    return Fail(Code::kTooLarge, "a blob of {} bytes exceeds the {} bytes of the service's store",
                digest.size_bytes, state_->options.limit_bytes);
  }
  const std::scoped_lock lock(state_->mutex);
  if (const auto entry = state_->Find(digest)) {
    state_->Use(entry);
    state_->stats.dedup_bytes += digest.size_bytes;
    return std::make_unique<CompleteWriter>(state_->Hold(entry));
  }
  const std::string first = PartialName(digest);
  std::string name = first;
  const auto idle = [&] {
    const auto found = state_->partials.find(name);
    return found == state_->partials.end() || !found->second.open;
  };
  for (int other = 2; !idle(); ++other) name = fmt::format("{}.{}", first, other);
  if (!state_->partials.contains(name) && state_->partials.size() >= state_->options.partials) {
    OCTAVO_CHECK(state_->DropOldestPartial());
  }
  DiskState::Partial& entry = state_->partials[name];
  entry.digest = digest;
  if (entry.committed > 0) ++state_->stats.resumed;
  DiskState::Partial taken = std::move(entry);
  entry = {.digest = digest,
           .committed = taken.committed,
           .open = true,
           .touched = state_->options.now(),
           .recovered = taken.recovered};
  taken.open = true;
  return std::make_unique<DiskWriter>(state_, name, std::move(taken), name != first);
}

void DiskBlobStore::Sweep() {
  const std::scoped_lock lock(state_->mutex);
  const auto oldest = state_->options.now() - state_->options.partial_age;
  std::vector<std::string> old;
  for (const auto& [name, partial] : state_->partials) {
    if (!partial.open && partial.touched < oldest) old.push_back(name);
  }
  for (const std::string& name : old) {
    if (const auto ok = state_->DropPartial(name); !ok) {
      log::Warning("partial upload not removed", {{"reason", ok.error().message}});
    }
  }
}

StoreStats DiskBlobStore::Now() const {
  const std::scoped_lock lock(state_->mutex);
  StoreStats stats = state_->stats;
  stats.blobs = state_->blob_count();
  stats.partials = state_->partials.size();
  return stats;
}

}  // namespace

Result<std::unique_ptr<BlobStore>> OpenDiskStore(DiskStoreOptions options) {
  OCTAVO_TRY(DiskFiles files, DiskFiles::Open(options.folder));
  auto state = std::make_shared<DiskState>(std::move(options), std::move(files));
  OCTAVO_CHECK(state->Load());
  return std::make_unique<DiskBlobStore>(std::move(state));
}

}  // namespace octavo::server
