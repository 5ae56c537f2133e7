// SPDX-License-Identifier: Apache-2.0
// The part of a session that receives blobs.
#include <algorithm>
#include <utility>

#include "server/session/job_request.h"
#include "server/session/session.h"

namespace octavo::server {
namespace {

constexpr auto kBreakPause = std::chrono::milliseconds(20);

Failure InvalidChunk(std::string_view field, std::string_view message) {
  return Fail(Code::kInvalidArgument, "{}", message).Field(field).Reason("INVALID_CHUNK");
}

}  // namespace

Status Session::OpenUploads(const JobSpec& spec) {
  for (size_t i = 0; i < spec.blobs.size(); ++i) {
    uploads_.emplace_back(spec.blobs[i], fmt::format("spec.blobs[{}]", i),
                          services_.limits.state_dir);
    if (services_.blobs != nullptr) OCTAVO_CHECK(uploads_.back().FindIn(*services_.blobs));
  }
  return {};
}

void Session::HandleDrain() {
  if (stage_ == Stage::kUpload) End(Draining());
}

void Session::HandleChunk(uint32_t blob, uint64_t offset, const Blob& bytes) {
  if (stage_ == Stage::kEnded) return;
  received_ += bytes.size();
  services_.probe.Uploaded(bytes.size());
  // A client that does not know Accepted.only_needed sends all blobs.
  if (stage_ != Stage::kSpec && uploads_.empty()) return transport_->Read();
  if (services_.scheduler.draining() && stage_ == Stage::kUpload) return End(Draining());
  if (auto ok = StoreChunk(blob, offset, bytes); !ok) return End(ok.error());
  if (stage_ == Stage::kEnded) return;
  transport_->Read();
  if (UploadComplete()) SubmitJob();
}

Status Session::StoreChunk(uint32_t blob, uint64_t offset, const Blob& bytes) {
  if (stage_ == Stage::kSpec) return InvalidChunk("chunk", "a chunk precedes the spec");
  if (blob >= uploads_.size()) {
    return InvalidChunk("chunk.blob", fmt::format("blob {} is not one of the {} in the spec", blob,
                                                  uploads_.size()));
  }
  if (stage_ != Stage::kUpload && uploads_[blob].found() == 0) {
    return InvalidChunk("chunk", "a chunk follows the end of the last blob");
  }
  if (bytes.empty()) return InvalidChunk("chunk.data", "a chunk without bytes");
  const uint64_t before = uploads_[blob].received();
  OCTAVO_CHECK(uploads_[blob].CheckChunk(offset, bytes));
  const uint64_t end = offset + bytes.size();
  if (end > before) {
    auto room = services_.scheduler.Store(*reservation_, end - before);
    if (!room) {
      End(std::move(room).error());
      return {};
    }
  }
  return uploads_[blob].Add(offset, bytes);
}

bool Session::UploadComplete() const {
  return stage_ == Stage::kUpload && std::all_of(uploads_.begin(), uploads_.end(),
                                                 [](const Upload& u) { return u.complete(); });
}

void Session::HandleInputEnd() {
  if (stage_ == Stage::kSpec) {
    return End(Fail(Code::kInvalidArgument, "the stream ended without a spec")
                   .Field("spec")
                   .Reason("INVALID_SPEC")
                   .error());
  }
  if (stage_ != Stage::kUpload) return;
  // A broken call ends its input just before its cancellation arrives; this pause tells a
  // half-close from a cancellation.
  const std::weak_ptr<Session> weak = weak_from_this();
  input_timer_ = services_.loop.After(kBreakPause, [weak] {
    if (const auto self = weak.lock()) {
      self->Post([](Session& session) { session.EndIncomplete(); });
    }
  });
}

void Session::EndIncomplete() {
  for (size_t i = 0; i < uploads_.size(); ++i) {
    if (uploads_[i].complete()) continue;
    const std::string field = fmt::format("spec.blobs[{}]", i);
    return End(Fail(Code::kInvalidArgument, "{}: the stream ended after {} of {} bytes", field,
                    uploads_[i].received(), uploads_[i].info().size_bytes)
                   .Field(field)
                   .Reason("INCOMPLETE_UPLOAD")
                   .error());
  }
}

Result<job::Request> Session::BuildRequest() {
  job::Request request = RequestOf(options_, services_.limits);
  for (Upload& upload : uploads_) {
    OCTAVO_TRY(Blob bytes, upload.Seal());
    OCTAVO_CHECK(AddInput(request, upload.info(), std::move(bytes)));
  }
  return request;
}

}  // namespace octavo::server
