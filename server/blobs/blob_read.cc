// SPDX-License-Identifier: Apache-2.0
#include "server/blobs/blob_read.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "server/log/log.h"

namespace octavo::server {
namespace {

Failure Corrupt(const BlobDigest& digest) {
  return Fail(Code::kInternal, "the stored bytes of blob {} are damaged; send the blob again",
              digest.sha256)
      .Field("digest")
      .Reason("CORRUPT");
}

}  // namespace

BlobRead::BlobRead(BlobServices& services, BlobReadTransport& transport, std::string client)
    : services_(services),
      transport_(&transport),
      client_(std::move(client)),
      serial_(services.pool.MakeSerial()) {}

std::shared_ptr<BlobRead> BlobRead::Start(BlobServices& services, BlobReadTransport& transport,
                                          std::string client, Result<BlobRange> range) {
  std::shared_ptr<BlobRead> call(new BlobRead(services, transport, std::move(client)));
  call->Post([range = std::move(range)](BlobRead& self) { self.Begin(range); });
  return call;
}

void BlobRead::Post(std::function<void(BlobRead&)> step) {
  serial_.Post([self = shared_from_this(), step = std::move(step)] {
    if (self->transport_ != nullptr) step(*self);
  });
}

// Posts the step if the call still exists.
std::function<void()> BlobRead::Later(void (BlobRead::*step)()) {
  return [weak = weak_from_this(), step] {
    if (const auto self = weak.lock()) self->Post([step](BlobRead& call) { (call.*step)(); });
  };
}

void BlobRead::Written(bool ok) {
  Post([ok](BlobRead& self) {
    self.write_under_way_ = false;
    if (!ok) self.End(Fail(Code::kCancelled, "the client ended the call").error());
    self.Continue();
  });
}

void BlobRead::Cancelled() {
  Post([](BlobRead& self) {
    self.End(Fail(Code::kCancelled, "the client cancelled the call").error());
  });
}

void BlobRead::Begin(const Result<BlobRange>& range) {
  if (!range) return End(range.error());
  auto place = services_.reads.Enter(client_, Later(&BlobRead::HandleDrain));
  if (!place) return End(std::move(place).error());
  place_ = std::move(*place);
  if (auto ok = Open(*range); !ok) return End(FromStore(ok.error()));
  ArmWatch();
  Continue();
}

Status BlobRead::Open(const BlobRange& range) {
  const BlobDigest& digest = range.digest;
  OCTAVO_TRY(const BlobWriteState state, services_.store.QueryWrite(digest));
  if (range.offset > digest.size_bytes) {
    return Fail(Code::kInvalidArgument, "offset {} is beyond the blob's {} bytes", range.offset,
                digest.size_bytes)
        .Field("offset")
        .Reason("INVALID_SPEC");
  }
  const uint64_t corruptions = services_.store.Now().corruptions;
  OCTAVO_TRY(blob_, services_.store.Open(digest, Check::kOnce));
  if (!blob_) {
    // Between the two calls it may also have been evicted.
    if (state.complete && services_.store.Now().corruptions > corruptions) return Corrupt(digest);
    return Fail(Code::kInvalidArgument, "the service has no blob {} of {} bytes", digest.sha256,
                digest.size_bytes)
        .Field("digest")
        .Reason("NOT_FOUND");
  }
  const uint64_t rest = digest.size_bytes - range.offset;
  at_ = range.offset;
  end_ = at_ + (range.limit == 0 ? rest : std::min(rest, range.limit));
  if (at_ == 0 && end_ == digest.size_bytes) {
    hash_.emplace([this](std::function<void()> work) { services_.pool.Post(std::move(work)); });
  }
  return {};
}

void BlobRead::Continue() {
  if (write_under_way_) return;
  if (status_) return FinishNow();
  if (at_ == end_) return CheckBytes();
  auto buffer = std::make_shared<std::vector<std::byte>>(std::min(kBlobChunkBytes, end_ - at_));
  if (auto ok = blob_->Read(at_, *buffer); !ok) return End(FromStore(ok.error()));
  Blob bytes(buffer, *buffer);
  if (hash_) hash_->Add(bytes);
  at_ += bytes.size();
  sent_ += bytes.size();
  services_.probe.Downloaded(bytes.size());
  write_under_way_ = true;
  transport_->Write(std::move(bytes));
}

// The file may have changed since the store has checked it.
void BlobRead::CheckBytes() {
  if (hash_ && hash_->Finish() != blob_->digest().sha256) {
    const BlobDigest digest = blob_->digest();
    blob_.reset();
    // Finds the damage itself, counts and removes it.
    const auto again = services_.store.Open(digest, Check::kAlways);
    if (!again) return End(FromStore(again.error()));
    return End(Corrupt(digest).error());
  }
  End(CallStatus{});
}

void BlobRead::ArmWatch() {
  watch_timer_ =
      services_.loop.After(services_.limits.upload_idle_timeout, Later(&BlobRead::CheckPace));
}

// Runs once per idle timeout: a client that does not read must not hold a place.
void BlobRead::CheckPace() {
  if (write_under_way_ && sent_ == sent_at_watch_) {
    End(Fail(Code::kDeadlineExceeded, "the client did not read for {} s",
             std::chrono::duration<double>(services_.limits.upload_idle_timeout).count())
            .Reason("DOWNLOAD_IDLE")
            .error());
    if (transport_ != nullptr) transport_->Abort();
    return;
  }
  sent_at_watch_ = sent_;
  ArmWatch();
}

void BlobRead::End(CallStatus status) {
  if (!status_) status_ = std::move(status);
  // Finish must follow the write in flight.
  if (!write_under_way_) FinishNow();
}

void BlobRead::FinishNow() {
  if (transport_ == nullptr) return;
  watch_timer_.Cancel();
  blob_.reset();
  place_.reset();
  if (status_->error) {
    log::Info("blob not read", {{"client", client_},
                                {"bytes_sent", sent_},
                                {"reason", status_->error->reason},
                                {"message", status_->error->message}});
  }
  std::exchange(transport_, nullptr)->Finish(std::move(*status_));
}

}  // namespace octavo::server
