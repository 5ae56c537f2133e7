// SPDX-License-Identifier: Apache-2.0
#include "server/daemon/storage.h"

#include <utility>

#include "server/log/log.h"
#include "server/store/disk_blob_store.h"

namespace octavo::server {
namespace {

constexpr auto kTrialPeriod = std::chrono::seconds(5);

}  // namespace

Storage::Storage(std::unique_ptr<BlobStore> blobs, std::unique_ptr<Database> database,
                 WorkPool& disk, EventLoop& loop)
    : blobs_(std::move(blobs)),
      database_(std::move(database)),
      index_(*database_),
      results_(*blobs_, index_),
      journal_(MakeJobStore(*database_)),
      disk_(disk),
      loop_(loop) {}

Result<std::unique_ptr<Storage>> Storage::Open(const Limits& limits, WorkPool& disk,
                                               EventLoop& loop, std::function<void(bool)> changed) {
  const std::string& folder = limits.state_dir;
  OCTAVO_TRY(auto blobs, OpenDiskStore({.folder = folder,
                                        .limit_bytes = limits.store_bytes,
                                        .executor = [&disk](std::function<void()> work) {
                                          disk.Post(std::move(work));
                                        }}));
  OCTAVO_TRY(auto database, Database::Open(folder + "/octavo.db"));
  std::unique_ptr<Storage> storage(new Storage(std::move(blobs), std::move(database), disk, loop));
  storage->changed_ = std::move(changed);
  storage->ArmTrial();
  return storage;
}

void Storage::ArmTrial() {
  loop_.After(kTrialPeriod, [this] {
    disk_.Post([this] {
      Try();
      ArmTrial();
    });
  });
}

void Storage::Try() {
  const auto ok = blobs_->TryWrite();
  const bool was = writable_.exchange(ok.has_value());
  if (was && !ok) log::Error("state folder not writable", {{"reason", ok.error().message}});
  if (!was && ok) log::Info("state folder writable again");
  if (was != ok.has_value()) changed_(ok.has_value());
  blobs_->Sweep();
}

}  // namespace octavo::server
