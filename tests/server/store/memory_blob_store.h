// SPDX-License-Identifier: Apache-2.0
// The blob store without files, for tests of its users.  It passes the contract's tests.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/sha256.h"
#include "server/store/blob_store.h"

namespace octavo::server {

class MemoryBlobStore : public BlobStore {
 public:
  explicit MemoryBlobStore(uint64_t limit_bytes = uint64_t{1} << 30, size_t partials = 1024)
      : state_(std::make_shared<State>()) {
    state_->stats.limit_bytes = limit_bytes;
    state_->most_partials = partials;
  }

  Result<HeldBlob> Open(const BlobDigest& digest, Check /*check*/) override {
    OCTAVO_CHECK(CheckDigest(digest));
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->Find(digest);
    if (found == nullptr) return HeldBlob();
    if (Sha256Of(found->bytes) != digest.sha256) {
      ++state_->stats.corruptions;
      state_->stats.bytes -= digest.size_bytes;
      state_->blobs.erase(digest.sha256);
      return HeldBlob();
    }
    found->used = ++state_->last_use;
    return found;
  }

  Result<BlobWriteState> QueryWrite(const BlobDigest& digest) const override {
    OCTAVO_CHECK(CheckDigest(digest));
    const std::scoped_lock lock(state_->mutex);
    if (state_->Find(digest)) return BlobWriteState{digest.size_bytes, true};
    const auto partial = state_->partials.find(digest.sha256);
    if (partial == state_->partials.end() || partial->second.open) return BlobWriteState{};
    return BlobWriteState{.committed_bytes = partial->second.bytes.size()};
  }

  Result<std::unique_ptr<BlobWriter>> Write(const BlobDigest& digest) override {
    OCTAVO_CHECK(CheckDigest(digest));
    const std::scoped_lock lock(state_->mutex);
    if (digest.size_bytes > state_->stats.limit_bytes) {
      return Fail(Code::kTooLarge, "a blob of {} bytes exceeds the store", digest.size_bytes);
    }
    std::string name = digest.sha256;
    while (state_->partials.contains(name) && state_->partials[name].open) name += '+';
    if (auto blob = state_->Find(digest)) {
      state_->stats.dedup_bytes += digest.size_bytes;
      return std::make_unique<Writer>(state_, digest, std::string(), std::move(blob));
    }
    if (!state_->partials.contains(name)) OCTAVO_CHECK(state_->RoomForPartial());
    Partial& partial = state_->partials[name];
    if (!partial.bytes.empty()) ++state_->stats.resumed;
    partial.open = true;
    partial.touched = state_->now;
    return std::make_unique<Writer>(state_, digest, name, nullptr);
  }

  void Sweep() override {
    const std::scoped_lock lock(state_->mutex);
    for (auto it = state_->partials.begin(); it != state_->partials.end();) {
      const auto next = std::next(it);
      if (!it->second.open && state_->now - it->second.touched > std::chrono::hours(1)) {
        state_->Drop(it);
      }
      it = next;
    }
  }
  Status TryWrite() override { return {}; }
  StoreStats Now() const override {
    const std::scoped_lock lock(state_->mutex);
    StoreStats stats = state_->stats;
    stats.blobs = state_->blobs.size();
    stats.partials = state_->partials.size();
    return stats;
  }

  // For tests: inverts the first byte of a blob; lets time pass.
  void Damage(const std::string& sha256) {
    const std::scoped_lock lock(state_->mutex);
    state_->blobs.at(sha256)->bytes[0] ^= 1;
  }
  void Wait(std::chrono::seconds period) {
    const std::scoped_lock lock(state_->mutex);
    state_->now += period;
  }

 private:
  struct Item : StoredBlob, std::enable_shared_from_this<Item> {
    BlobDigest name = {};
    std::string bytes = {};
    uint64_t used = 0;

    const BlobDigest& digest() const override { return name; }
    Status Read(uint64_t offset, std::span<std::byte> out) const override {
      if (offset > bytes.size() || out.size() > bytes.size() - offset) {
        return Fail(Code::kInvalidArgument, "not in the blob").Field("offset");
      }
      std::copy_n(std::as_bytes(std::span(bytes)).data() + offset, out.size(), out.data());
      return {};
    }
    Result<Blob> Map() const override {
      return Blob(shared_from_this(), std::as_bytes(std::span(bytes)));
    }
  };
  struct Partial {
    std::string bytes = {};
    bool open = false;
    std::chrono::seconds touched = {};
  };
  struct State {
    mutable std::mutex mutex = {};
    std::map<std::string, std::shared_ptr<Item>> blobs = {};
    std::map<std::string, Partial> partials = {};
    StoreStats stats = {};
    size_t most_partials = 0;
    uint64_t last_use = 0;
    std::chrono::seconds now = {};

    std::shared_ptr<Item> Find(const BlobDigest& digest) const {
      const auto found = blobs.find(digest.sha256);
      return found != blobs.end() && found->second->name == digest ? found->second : nullptr;
    }
    void Drop(std::map<std::string, Partial>::iterator it) {
      stats.bytes -= it->second.bytes.size();
      partials.erase(it);
    }
    bool DropOldest() {
      auto oldest = partials.end();
      for (auto it = partials.begin(); it != partials.end(); ++it) {
        if (it->second.open) continue;
        if (oldest == partials.end() || it->second.touched < oldest->second.touched) oldest = it;
      }
      if (oldest == partials.end()) return false;
      Drop(oldest);
      return true;
    }
    Status RoomForPartial() {
      if (partials.size() < most_partials || DropOldest()) return {};
      return Fail(Code::kResourceExhausted, "too many uploads").Reason("OVERLOADED");
    }
    Status MakeRoom(uint64_t bytes) {
      while (stats.bytes + bytes > stats.limit_bytes) {
        auto victim = blobs.end();
        for (auto it = blobs.begin(); it != blobs.end(); ++it) {
          if (it->second.use_count() > 1) continue;
          if (victim == blobs.end() || it->second->used < victim->second->used) victim = it;
        }
        if (victim == blobs.end()) {
          if (DropOldest()) continue;
          return Fail(Code::kResourceExhausted, "the store is full").Reason("STORAGE");
        }
        stats.bytes -= victim->second->bytes.size();
        stats.evicted_bytes += victim->second->bytes.size();
        blobs.erase(victim);
      }
      return {};
    }
  };

  class Writer : public BlobWriter {
   public:
    Writer(std::shared_ptr<State> state, BlobDigest digest, std::string name,
           std::shared_ptr<Item> complete)
        : state_(std::move(state)),
          digest_(std::move(digest)),
          name_(std::move(name)),
          complete_(std::move(complete)) {}
    ~Writer() override {
      if (name_.empty()) return;
      const std::scoped_lock lock(state_->mutex);
      const auto it = state_->partials.find(name_);
      it->second.open = false;
      it->second.touched = state_->now;
      if (it->second.bytes.empty() || name_ != digest_.sha256) state_->Drop(it);
    }
    uint64_t committed() const override {
      if (complete_) return digest_.size_bytes;
      const std::scoped_lock lock(state_->mutex);
      return state_->partials.at(name_).bytes.size();
    }
    Status Append(uint64_t offset, Blob bytes) override {
      const uint64_t have = committed();
      if (offset != have || bytes.size() > digest_.size_bytes - have) {
        return Fail(Code::kInvalidArgument, "wrong offset or size").Reason("INVALID_CHUNK");
      }
      const std::scoped_lock lock(state_->mutex);
      OCTAVO_CHECK(state_->MakeRoom(bytes.size()));
      state_->partials.at(name_).bytes += bytes.text();
      state_->stats.bytes += bytes.size();
      return {};
    }
    Status Read(uint64_t offset, std::span<std::byte> out) const override {
      if (complete_) return complete_->Read(offset, out);
      const std::scoped_lock lock(state_->mutex);
      const auto found = state_->partials.find(name_);
      if (found == state_->partials.end())
        return Fail(Code::kResourceExhausted, "no bytes").Reason("STORAGE");
      if (offset + out.size() > found->second.bytes.size()) {
        return Fail(Code::kInvalidArgument, "beyond the end");
      }
      found->second.bytes.copy(reinterpret_cast<char*>(out.data()), out.size(), offset);
      return {};
    }
    Result<HeldBlob> Commit() override {
      if (complete_) return complete_;
      if (committed() != digest_.size_bytes) {
        return Fail(Code::kInvalidArgument, "incomplete").Reason("INCOMPLETE_UPLOAD");
      }
      const std::scoped_lock lock(state_->mutex);
      const auto it = state_->partials.find(std::exchange(name_, {}));
      const std::string bytes = it->second.bytes;
      state_->Drop(it);
      if (Sha256Of(bytes) != digest_.sha256) {
        return Fail(Code::kInvalidArgument, "other bytes").Reason("DIGEST_MISMATCH");
      }
      if (auto other = state_->Find(digest_)) {
        state_->stats.dedup_bytes += digest_.size_bytes;
        return other;
      }
      auto item = std::make_shared<Item>();
      item->name = digest_;
      item->bytes = bytes;
      item->used = ++state_->last_use;
      state_->stats.bytes += bytes.size();
      state_->blobs[digest_.sha256] = item;
      return item;
    }

   private:
    std::shared_ptr<State> state_;
    BlobDigest digest_;
    std::string name_;
    std::shared_ptr<Item> complete_;
  };

  std::shared_ptr<State> state_;
};

}  // namespace octavo::server
