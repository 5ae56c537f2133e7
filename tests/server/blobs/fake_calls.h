// SPDX-License-Identifier: Apache-2.0
// Calls of Blobs whose clients a test controls, and a service without gRPC.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "server/blobs/blob_read.h"
#include "server/blobs/blob_write.h"
#include "tests/server/logic/fake_runner.h"
#include "tests/server/store/blob_store_contract.h"

namespace octavo::server {

struct BlobFixture {
  explicit BlobFixture(BlobStore& store, Limits limits = {})
      : services{.limits = std::move(limits),
                 .store = store,
                 .pool = pool,
                 .loop = loop,
                 .probe = probe} {}
  ~BlobFixture() { loop.Stop(); }  // as the daemon does

  CountingProbe probe;
  EventLoop loop;
  BlobServices services;
  WorkPool pool{2};  // its items use the services
};

// What both kinds of calls have.
class FakeCall {
 public:
  // Waits for the final status; fails the test if the call does not end.
  CallStatus WaitForEnd() {
    EXPECT_TRUE(Wait([&] { return status_.has_value(); }));
    const std::lock_guard lock(mutex_);
    return status_.value_or(CallStatus{.error = Error{.message = "never ended"}});
  }
  // The reason of the end; empty if it is OK.
  std::string Reason() {
    const CallStatus status = WaitForEnd();
    return status.error ? status.error->reason : "";
  }

 protected:
  template <class Condition>
  bool Wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), condition);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<CallStatus> status_;
};

class FakeWrite : public FakeCall, public BlobWriteTransport {
 public:
  explicit FakeWrite(BlobFixture& fixture, std::string client = "c")
      : call_(BlobWrite::Start(fixture.services, *this, std::move(client))) {}

  void Read() override {
    const std::lock_guard lock(mutex_);
    ++reads_;
    changed_.notify_all();
  }
  void Finish(CallStatus status, uint64_t size_bytes) override {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    stored_ = size_bytes;
    changed_.notify_all();
  }

  // Waits until the service asks for a message (true) or ends the call.
  bool Ready() {
    EXPECT_TRUE(Wait([&] { return reads_ > sent_ || status_; }));
    const std::lock_guard lock(mutex_);
    return reads_ > sent_;
  }
  bool Name(const BlobDigest& digest) {
    if (!Take()) return false;
    call_->DigestArrived(digest);
    return true;
  }
  bool Send(uint64_t offset, std::string bytes) {
    if (!Take()) return false;
    call_->ChunkArrived(offset, std::move(bytes));
    return true;
  }
  void HalfClose() {
    if (Take()) call_->InputEnded();
  }
  // As gRPC does when the connection breaks.
  void Break() {
    if (Take()) call_->InputEnded();
    call_->Cancelled();
  }
  uint64_t stored() {
    const std::lock_guard lock(mutex_);
    return stored_;
  }

 private:
  bool Take() {
    if (!Ready()) return false;
    const std::lock_guard lock(mutex_);
    ++sent_;
    return true;
  }

  int reads_ = 0;
  int sent_ = 0;
  uint64_t stored_ = 0;
  std::shared_ptr<BlobWrite> call_;
};

class FakeRead : public FakeCall, public BlobReadTransport {
 public:
  FakeRead(BlobFixture& fixture, BlobRange range, bool reads = true, std::string client = "c")
      : reads_(reads) {
    const std::lock_guard lock(mutex_);
    call_ = BlobRead::Start(fixture.services, *this, std::move(client), std::move(range));
  }

  void Write(Blob bytes) override {
    std::shared_ptr<BlobRead> call;
    {
      const std::lock_guard lock(mutex_);
      received_ += bytes.text();
      largest_ = std::max(largest_, bytes.size());
      call = call_;
      changed_.notify_all();
    }
    if (reads_) call->Written(true);
  }
  void Finish(CallStatus status) override {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    changed_.notify_all();
  }
  void Abort() override {
    std::shared_ptr<BlobRead> call;
    {
      const std::lock_guard lock(mutex_);
      call = call_;
    }
    call->Written(false);
  }
  std::string received() {
    const std::lock_guard lock(mutex_);
    return received_;
  }
  size_t largest() {
    const std::lock_guard lock(mutex_);
    return largest_;
  }

 private:
  const bool reads_;
  std::string received_;
  size_t largest_ = 0;
  std::shared_ptr<BlobRead> call_;
};

}  // namespace octavo::server
