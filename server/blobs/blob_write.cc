// SPDX-License-Identifier: Apache-2.0
#include "server/blobs/blob_write.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/log/log.h"

namespace octavo::server {
namespace {

constexpr auto kBreakPause = std::chrono::milliseconds(20);

Error InvalidChunk(std::string_view field, std::string_view message) {
  return Fail(Code::kInvalidArgument, "{}", message).Field(field).Reason("INVALID_CHUNK").error();
}

}  // namespace

BlobWrite::BlobWrite(BlobServices& services, BlobWriteTransport& transport, std::string client)
    : services_(services),
      transport_(&transport),
      client_(std::move(client)),
      serial_(services.pool.MakeSerial()) {}

std::shared_ptr<BlobWrite> BlobWrite::Start(BlobServices& services, BlobWriteTransport& transport,
                                            std::string client) {
  std::shared_ptr<BlobWrite> call(new BlobWrite(services, transport, std::move(client)));
  call->Post([](BlobWrite& self) {
    self.ArmWatch();
    self.transport_->Read();
  });
  return call;
}

// End clears the transport; later steps do nothing.
void BlobWrite::Post(std::function<void(BlobWrite&)> step) {
  serial_.Post([self = shared_from_this(), step = std::move(step)] {
    if (self->transport_ != nullptr) step(*self);
  });
}

// Posts the step if the call still exists.
std::function<void()> BlobWrite::Later(void (BlobWrite::*step)()) {
  return [weak = weak_from_this(), step] {
    if (const auto self = weak.lock()) self->Post([step](BlobWrite& call) { (call.*step)(); });
  };
}

void BlobWrite::DigestArrived(Result<BlobDigest> digest) {
  if (!digest) return InvalidArrived(digest.error());
  Post([digest = std::move(*digest)](BlobWrite& self) { self.HandleDigest(digest); });
}

void BlobWrite::ChunkArrived(uint64_t offset, std::string bytes) {
  Post([offset, bytes = std::move(bytes)](BlobWrite& self) mutable {
    self.HandleChunk(offset, std::move(bytes));
  });
}

void BlobWrite::InvalidArrived(Error error) {
  Post([error = std::move(error)](BlobWrite& self) { self.End(error); });
}

void BlobWrite::InputEnded() {
  Post([](BlobWrite& self) { self.HandleInputEnd(); });
}

void BlobWrite::Cancelled() {
  Post([](BlobWrite& self) {
    self.End(Fail(Code::kCancelled, "the client cancelled the call").error());
  });
}

void BlobWrite::HandleDigest(const BlobDigest& digest) {
  if (stage_ != Stage::kDigest) {
    return End(Fail(Code::kInvalidArgument, "a second digest in a call; each call is one blob")
                   .Field("digest")
                   .Reason("INVALID_SPEC")
                   .error());
  }
  auto place = services_.writes.Enter(client_, Later(&BlobWrite::HandleDrain));
  if (!place) {
    services_.probe.Rejected(RejectReason::kUploads);
    return End(std::move(place).error());
  }
  place_ = std::move(*place);
  auto writer = services_.store.Write(digest);
  if (!writer) return End(FromStore(writer.error()));
  digest_ = digest;
  writer_ = std::move(*writer);
  stage_ = Stage::kChunks;
  if (writer_->committed() == digest_.size_bytes) return Commit();
  transport_->Read();
}

void BlobWrite::HandleChunk(uint64_t offset, std::string bytes) {
  if (stage_ == Stage::kDigest) return End(InvalidChunk("chunk", "a chunk precedes the digest"));
  if (bytes.empty()) return End(InvalidChunk("chunk.data", "a chunk without bytes"));
  const uint64_t size = bytes.size();
  if (auto ok = writer_->Append(offset, Blob(std::move(bytes))); !ok) {
    return End(FromStore(ok.error()));
  }
  received_ += size;
  services_.probe.Uploaded(size);
  transport_->Read();
}

void BlobWrite::HandleInputEnd() {
  if (stage_ == Stage::kChunks && writer_->committed() == digest_.size_bytes) return Commit();
  // A broken call ends its input just before its cancellation arrives; this pause tells a
  // half-close from a cancellation.
  input_timer_ = services_.loop.After(kBreakPause, Later(&BlobWrite::EndIncomplete));
}

void BlobWrite::EndIncomplete() {
  if (stage_ == Stage::kDigest) {
    return End(Fail(Code::kInvalidArgument, "the stream ended without a digest")
                   .Field("digest")
                   .Reason("INVALID_SPEC")
                   .error());
  }
  End(Fail(Code::kInvalidArgument, "the upload ended after {} of {} bytes", writer_->committed(),
           digest_.size_bytes)
          .Reason("INCOMPLETE_UPLOAD")
          .error());
}

void BlobWrite::Commit() {
  const auto stored = writer_->Commit();
  if (!stored) return End(FromStore(stored.error()));
  End(CallStatus{});
}

void BlobWrite::ArmWatch() {
  watch_timer_ =
      services_.loop.After(services_.limits.upload_idle_timeout, Later(&BlobWrite::CheckPace));
}

// Runs once per idle timeout.  Without it, a client that uploads below the minimum rate would hold
// a place that others need.
void BlobWrite::CheckPace() {
  const double period = std::chrono::duration<double>(services_.limits.upload_idle_timeout).count();
  const auto least =
      static_cast<uint64_t>(static_cast<double>(services_.limits.upload_min_rate) * period);
  const uint64_t came = received_ - received_at_watch_;
  if (came < std::max<uint64_t>(1, least)) {
    return End(Fail(Code::kDeadlineExceeded,
                    "the client uploaded {} bytes in {} s; the minimum is {}", came, period, least)
                   .Reason("UPLOAD_IDLE")
                   .error());
  }
  received_at_watch_ = received_;
  ArmWatch();
}

void BlobWrite::End(CallStatus status) {
  stage_ = Stage::kEnded;
  watch_timer_.Cancel();
  input_timer_.Cancel();
  log::Fields fields = {{"client", client_},
                        {"sha256", digest_.sha256},
                        {"size_bytes", digest_.size_bytes},
                        {"bytes_received", received_}};
  if (status.error) {
    fields["reason"] = status.error->reason;
    fields["message"] = status.error->message;
  }
  log::Info(status.error ? "blob not stored" : "blob stored", std::move(fields));
  // Before the client hears of the end: its next call continues here.
  writer_.reset();
  place_.reset();
  std::exchange(transport_, nullptr)->Finish(std::move(status), digest_.size_bytes);
}

}  // namespace octavo::server
