// SPDX-License-Identifier: Apache-2.0
// A store on disk in a folder of its own, which the destructor removes.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "server/store/disk_blob_store.h"
#include "tests/server/store/blob_store_contract.h"
#include "tests/server/store/test_folder.h"

namespace octavo::server {

class DiskHarness : public StoreHarness {
 public:
  explicit DiskHarness(StoreSize size) {
    options_ = {.folder = folder_.path(),
                .limit_bytes = size.limit_bytes,
                .partials = size.partials,
                .executor = [](auto work) { std::thread(std::move(work)).detach(); },
                .now = [this] { return std::chrono::steady_clock::now() + waited_; }};
    Reopen();
  }
  BlobStore& store() override { return *store_; }
  void Damage(const BlobDigest& digest) override { DamageFile(BlobFile(digest)); }
  void Wait(std::chrono::seconds period) override { waited_ += period; }

  // As a restart of the service does.
  void Reopen() {
    store_.reset();
    auto opened = OpenDiskStore(options_);
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  std::string BlobFile(const BlobDigest& digest) const {
    return folder_.path() + "/blobs/" + digest.sha256.substr(0, 2) + '/' + digest.sha256;
  }
  std::string PartialFile(const BlobDigest& digest) const {
    return fmt::format("{}/partial/{}-{}", folder_.path(), digest.sha256, digest.size_bytes);
  }
  static void DamageFile(const std::string& path) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const int byte = file.get();
    file.seekp(0);
    file.put(static_cast<char>(byte ^ 1));
    EXPECT_TRUE(file);
  }
  size_t CountFiles() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      count += entry.is_regular_file() && entry.path().filename() != "lock";
    }
    return count;
  }
  DiskStoreOptions& options() { return options_; }

 private:
  TestFolder folder_;
  std::chrono::seconds waited_ = {};
  DiskStoreOptions options_;
  std::unique_ptr<BlobStore> store_;
};

}  // namespace octavo::server
