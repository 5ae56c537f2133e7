// SPDX-License-Identifier: Apache-2.0
// The writer of one partial file of the store on disk.
#pragma once

#include <memory>
#include <string>

#include "server/store/disk_state.h"

namespace octavo::server {

class DiskWriter : public BlobWriter {
 public:
  // `name` is an open entry of `state.partials`; a second writer's file is not kept.
  DiskWriter(std::shared_ptr<DiskState> state, std::string name, DiskState::Partial partial,
             bool second);
  ~DiskWriter() override;

  uint64_t committed() const override { return partial_.committed; }
  Status Append(uint64_t offset, Blob bytes) override;
  Status Read(uint64_t offset, std::span<std::byte> out) const override;
  Result<HeldBlob> Commit() override;

 private:
  // Opens the file and hashes what it has from before.
  Status Prepare();
  Status CheckHash();
  Result<HeldBlob> Publish();
  // The file goes, and with it the entry.
  void Drop();

  const std::shared_ptr<DiskState> state_;
  const std::string name_;
  const bool second_;
  DiskState::Partial partial_;  // its copy in the state has no hash while this object exists
  std::unique_ptr<Descriptor> file_;
  bool dropped_ = false;
};

// The writer of a blob that the store has.
class CompleteWriter : public BlobWriter {
 public:
  explicit CompleteWriter(HeldBlob blob) : blob_(std::move(blob)) {}
  uint64_t committed() const override { return blob_->digest().size_bytes; }
  Status Append(uint64_t offset, Blob bytes) override;
  Status Read(uint64_t offset, std::span<std::byte> out) const override {
    return blob_->Read(offset, out);
  }
  Result<HeldBlob> Commit() override { return blob_; }

 private:
  const HeldBlob blob_;
};

}  // namespace octavo::server
