// SPDX-License-Identifier: Apache-2.0
#include "client/remote.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "client/channel.h"
#include "client/download.h"
#include "client/retry.h"
#include "client/wire.h"
#include "core/base/mapped_pages.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "octavo/v1/optimizer.grpc.pb.h"

namespace octavo::client {
namespace {

constexpr uint64_t kChunkBytes = 1 << 20;
using Stream = grpc::ClientReaderWriter<v1::OptimizeRequest, v1::OptimizeEvent>;
struct Answer {
  job::Outcome outcome = {};
  ResultSource source = ResultSource::kExecuted;
  std::string detached = {};  // the job's id; there is no outcome
};
using Attempt = tl::expected<Answer, CallFailure>;

// The blobs to send, with the offset of the first byte: all, or those that the service lacks.
Result<std::vector<v1::NeededBlob>> BlobsToSend(const v1::Accepted& accepted,
                                                const Submission& submission) {
  std::vector<v1::NeededBlob> needed(accepted.needed_blobs().begin(),
                                     accepted.needed_blobs().end());
  for (const v1::NeededBlob& each : needed) {
    if (each.blob() >= submission.blobs.size() ||
        each.offset() > submission.blobs[each.blob()].size()) {
      return Fail(Code::kUnavailable, "the service asks for byte {} of blob {}, which there is not",
                  each.offset(), each.blob());
    }
  }
  if (accepted.only_needed()) return needed;
  needed.resize(submission.blobs.size());
  for (size_t i = 0; i < needed.size(); ++i) needed[i].set_blob(static_cast<uint32_t>(i));
  return needed;
}

// The bytes of unfinished blobs that earlier attempts have brought.
uint64_t StoredBytes(const std::vector<v1::NeededBlob>& needed) {
  uint64_t stored = 0;
  for (const v1::NeededBlob& each : needed) stored += each.offset();
  return stored;
}

bool SendBlobs(Stream& stream, const std::vector<v1::NeededBlob>& needed,
               const Submission& submission, const job::Observer& observer) {
  uint64_t total = 0;
  for (const v1::NeededBlob& each : needed) {
    total += submission.blobs[each.blob()].size() - each.offset();
  }
  uint64_t sent = 0;
  v1::OptimizeRequest request;
  v1::Chunk& chunk = *request.mutable_chunk();
  for (const v1::NeededBlob& each : needed) {
    const std::string_view bytes = submission.blobs[each.blob()].text();
    chunk.set_blob(each.blob());
    for (uint64_t offset = each.offset(); offset < bytes.size(); offset += kChunkBytes) {
      const std::string_view piece = bytes.substr(offset, kChunkBytes);
      chunk.set_offset(offset);
      chunk.set_data(piece.data(), piece.size());
      if (!stream.Write(request)) return false;
      ReleasePages(std::as_bytes(std::span(piece)));
      sent += piece.size();
      observer({.stage = "upload",
                .done = static_cast<int64_t>(sent),
                .total = static_cast<int64_t>(total)});
    }
  }
  return stream.WritesDone();
}

ResultSource SourceOf(const v1::Finished& finished) {
  if (finished.source() == v1::Finished::SOURCE_CACHE) return ResultSource::kCache;
  if (finished.source() == v1::Finished::SOURCE_JOINED) return ResultSource::kJoined;
  return ResultSource::kExecuted;
}

// Reads events until the stream ends.  Returns the outcome if it is complete.
Result<std::optional<Answer>> ReceiveEvents(Stream& stream, const std::string& folder,
                                            const job::Observer& observer) {
  Download download(folder);
  std::optional<Answer> answer;
  v1::OptimizeEvent event;
  while (stream.Read(&event)) {
    if (answer) continue;  // ignore events after Finished
    switch (event.event_case()) {
      case v1::OptimizeEvent::kProgress: {
        const v1::Progress& progress = event.progress();
        observer({.stage = progress.stage(),
                  .pass = progress.pass(),
                  .done = progress.done(),
                  .total = progress.total()});
        break;
      }
      case v1::OptimizeEvent::kResult:
        OCTAVO_CHECK(download.Begin(event.result()));
        break;
      case v1::OptimizeEvent::kChunk:
        OCTAVO_CHECK(download.Add(event.chunk()));
        observer({.stage = "download",
                  .done = static_cast<int64_t>(download.received()),
                  .total = static_cast<int64_t>(download.announced())});
        break;
      case v1::OptimizeEvent::kFinished: {
        OCTAVO_TRY(job::Outcome outcome, download.Finish(event.finished()));
        answer = Answer{.outcome = std::move(outcome), .source = SourceOf(event.finished())};
        break;
      }
      case v1::OptimizeEvent::kAccepted:
      case v1::OptimizeEvent::EVENT_NOT_SET:
        break;  // later versions may add events
    }
  }
  return answer;
}

CallFailure Failed(Error error) { return {.error = std::move(error)}; }

Attempt RunOnce(v1::Optimizer::Stub& stub, const RemoteOptions& options,
                const Submission& submission, const StopToken& stop, const job::Observer& observer,
                uint64_t& stored) {
  grpc::ClientContext context;
  if (options.deadline) context.set_deadline(*options.deadline);
  const auto stream = stub.Optimize(&context);
  const CancelOnStop cancel_on_stop(context, stop);
  v1::OptimizeRequest first;
  *first.mutable_spec() = submission.spec;
  first.mutable_spec()->set_no_cache(options.no_cache);
  first.mutable_spec()->set_detach(options.detach);
  first.mutable_spec()->set_priority(options.priority);
  v1::OptimizeEvent accepted;
  // Upload nothing before the service has admitted the job.
  const bool started = stream->Write(first) && stream->Read(&accepted) && accepted.has_accepted();
  if (started) {
    observer({.stage = "job",
              .pass = accepted.accepted().job_id(),
              .done = accepted.accepted().queue_position()});
    const auto needed = BlobsToSend(accepted.accepted(), submission);
    if (!needed) {
      context.TryCancel();
      return tl::unexpected(Failed(needed.error()));
    }
    stored = StoredBytes(*needed);
    SendBlobs(*stream, *needed, submission, observer);
  }
  auto answer = ReceiveEvents(*stream, options.folder, observer);
  if (!answer) context.TryCancel();
  const grpc::Status status = stream->Finish();
  if (!answer) return tl::unexpected(Failed(std::move(answer).error()));
  if (auto ok = stop.Check(); !ok) return tl::unexpected(Failed(ok.error()));
  // The service says so in the details: CancelJob.
  const bool by_another = !status.error_details().empty();
  if (status.error_code() == grpc::StatusCode::CANCELLED && !by_another) {
    // This client has not cancelled it; gRPC has no other status for a stream that a server cuts.
    return tl::unexpected(Failed(
        Fail(Code::kUnavailable, "the service ended the call before its result was read").error()));
  }
  if (!status.ok()) return tl::unexpected(FailureFrom(status));
  if (options.detach) {
    // Only a service that knows `detach` ends the call without a result.
    if (answer->has_value() || !started) {
      return tl::unexpected(
          Failed(Fail(Code::kUnimplemented, "the service does not detach jobs").error()));
    }
    return Answer{.detached = accepted.accepted().job_id()};
  }
  if (!answer->has_value()) {
    return tl::unexpected(
        Failed(Fail(Code::kUnavailable, "the service's response ended early").error()));
  }
  return std::move(**answer);
}

// Asks again while the service is unreachable or overloaded.
Result<Answer> RunUntilAnswered(const RemoteOptions& options, const Submission& submission,
                                const StopToken& stop, const job::Observer& observer) {
  auto channel = Connect(options.address);
  auto stub = v1::Optimizer::NewStub(channel);
  uint64_t most_stored = 0;
  Retry retry(options.retry, options.deadline);
  for (;;) {
    OCTAVO_CHECK(stop.Check());
    AwaitConnection(*channel, options.address, stop, observer);
    uint64_t stored = 0;
    auto answer = RunOnce(*stub, options, submission, stop, observer, stored);
    if (answer) return std::move(*answer);
    CallFailure failure = std::move(answer).error();
    if (stored > most_stored) {
      most_stored = stored;
      retry.Progressed();
    }
    const auto pause = retry.PauseAfter(failure);
    if (!pause) return Forward(FinalError(std::move(failure), options.address, retry.attempts()));
    OCTAVO_CHECK(WaitToRetry(*pause, failure, options.address, retry, stop, observer));
    // A channel that failed connects again only while a call waits for it, and calls do not: they
    // would end with its old error long after the service is back.
    if (failure.error.code == Code::kUnavailable) {
      channel = Connect(options.address);
      stub = v1::Optimizer::NewStub(channel);
    }
  }
}

}  // namespace

Result<job::Outcome> RemoteRun(const RemoteOptions& options, const job::Request& request,
                               const StopToken& stop, const job::Observer& observer,
                               ResultSource* source) {
  OCTAVO_TRY(const Submission submission, Pack(request, stop));
  OCTAVO_TRY(Answer answer, RunUntilAnswered(options, submission, stop, observer));
  if (source != nullptr) *source = answer.source;
  return std::move(answer.outcome);
}

Result<std::string> RemoteSubmit(RemoteOptions options, const job::Request& request,
                                 const StopToken& stop, const job::Observer& observer) {
  options.detach = true;
  OCTAVO_TRY(const Submission submission, Pack(request, stop));
  OCTAVO_TRY(Answer answer, RunUntilAnswered(options, submission, stop, observer));
  return std::move(answer.detached);
}

std::optional<std::chrono::system_clock::time_point> DeadlineIn(double seconds) {
  constexpr double kYear = 365.0 * 24 * 3600;
  if (!(seconds < kYear)) return std::nullopt;
  return std::chrono::system_clock::now() +
         std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
}

Status CheckHealth(const std::string& address,
                   std::optional<std::chrono::system_clock::time_point> deadline) {
  const auto stub = grpc::health::v1::Health::NewStub(Connect(address));
  grpc::ClientContext context;
  if (deadline) context.set_deadline(*deadline);
  grpc::health::v1::HealthCheckRequest request;
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status status = stub->Check(&context, request, &response);
  if (!status.ok()) {
    Error error = FailureFrom(status).error;
    error.message = fmt::format("{}: {}", address, error.message);
    return Forward(std::move(error));
  }
  if (response.status() != grpc::health::v1::HealthCheckResponse::SERVING) {
    return Fail(Code::kUnavailable, "{}: not serving", address).Reason("NOT_SERVING");
  }
  return {};
}

}  // namespace octavo::client
