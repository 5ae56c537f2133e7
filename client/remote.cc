// SPDX-License-Identifier: Apache-2.0
#include "client/remote.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "client/download.h"
#include "client/wire.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "octavo/v1/optimizer.grpc.pb.h"

namespace octavo::client {
namespace {

constexpr uint64_t kChunkBytes = 1 << 20;
constexpr auto kPollPause = std::chrono::milliseconds(20);
using Stream = grpc::ClientReaderWriter<v1::OptimizeRequest, v1::OptimizeEvent>;
using Attempt = tl::expected<job::Outcome, CallFailure>;

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(8 << 20);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Cancels a call when its stop token is set.
class CancelOnStop {
 public:
  CancelOnStop(grpc::ClientContext& context, const StopToken& stop)
      : thread_([&context, &stop](const std::stop_token& done) {
          while (!done.stop_requested()) {
            if (stop.StopRequested()) return context.TryCancel();
            std::this_thread::sleep_for(kPollPause);
          }
        }) {}

 private:
  std::jthread thread_;
};

bool SendBlobs(Stream& stream, const Submission& submission, const job::Observer& observer) {
  uint64_t sent = 0;
  v1::OptimizeRequest request;
  v1::Chunk& chunk = *request.mutable_chunk();
  for (size_t i = 0; i < submission.blobs.size(); ++i) {
    const std::string_view bytes = submission.blobs[i].text();
    chunk.set_blob(static_cast<uint32_t>(i));
    for (uint64_t offset = 0; offset < bytes.size(); offset += kChunkBytes) {
      const std::string_view piece = bytes.substr(offset, kChunkBytes);
      chunk.set_offset(offset);
      chunk.set_data(piece.data(), piece.size());
      if (!stream.Write(request)) return false;
      sent += piece.size();
      observer({.stage = "upload",
                .done = static_cast<int64_t>(sent),
                .total = static_cast<int64_t>(submission.total_bytes)});
    }
  }
  return stream.WritesDone();
}

// Reads events until the stream ends.  Returns the outcome if it is complete.
Result<std::optional<job::Outcome>> ReceiveEvents(Stream& stream, const job::Observer& observer) {
  Download download;
  std::optional<job::Outcome> outcome;
  v1::OptimizeEvent event;
  while (stream.Read(&event)) {
    if (outcome) continue;  // ignore events after Finished
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
        OCTAVO_TRY(outcome, download.Finish(event.finished()));
        break;
      }
      case v1::OptimizeEvent::kAccepted:
      case v1::OptimizeEvent::EVENT_NOT_SET:
        break;  // later versions may add events
    }
  }
  return outcome;
}

CallFailure Failed(Error error) { return {.error = std::move(error)}; }

Attempt RunOnce(v1::Optimizer::Stub& stub, const RemoteOptions& options,
                const Submission& submission, const StopToken& stop,
                const job::Observer& observer) {
  grpc::ClientContext context;
  if (options.deadline) context.set_deadline(*options.deadline);
  const auto stream = stub.Optimize(&context);
  const CancelOnStop cancel_on_stop(context, stop);
  v1::OptimizeRequest first;
  *first.mutable_spec() = submission.spec;
  v1::OptimizeEvent accepted;
  // Upload nothing before the service has admitted the job.
  const bool started = stream->Write(first) && stream->Read(&accepted) && accepted.has_accepted();
  if (started) SendBlobs(*stream, submission, observer);
  auto outcome = ReceiveEvents(*stream, observer);
  if (!outcome) context.TryCancel();
  const grpc::Status status = stream->Finish();
  if (!outcome) return tl::unexpected(Failed(std::move(outcome).error()));
  if (auto ok = stop.Check(); !ok) return tl::unexpected(Failed(ok.error()));
  if (!status.ok()) return tl::unexpected(FailureFrom(status));
  if (!outcome->has_value()) {
    return tl::unexpected(
        Failed(Fail(Code::kUnavailable, "the service's response ended early").error()));
  }
  return std::move(**outcome);
}

bool MayTryAgain(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kResourceExhausted;
}

// Adds a random part of the pause, so that clients refused together do not retry together.
std::chrono::milliseconds Jittered(std::chrono::milliseconds pause) {
  static thread_local std::minstd_rand random(std::random_device{}());
  std::uniform_int_distribution<int64_t> extra(0, pause.count() / 2);
  return pause + std::chrono::milliseconds(extra(random));
}

Status Sleep(std::chrono::milliseconds pause, const StopToken& stop) {
  const auto end = std::chrono::steady_clock::now() + pause;
  while (std::chrono::steady_clock::now() < end) {
    OCTAVO_CHECK(stop.Check());
    std::this_thread::sleep_for(std::min(pause, kPollPause));
  }
  return {};
}

}  // namespace

Result<job::Outcome> RemoteRun(const RemoteOptions& options, const job::Request& request,
                               const StopToken& stop, const job::Observer& observer) {
  const auto stub = v1::Optimizer::NewStub(Connect(options.address));
  const Submission submission = Pack(request);
  auto pause = options.initial_backoff;
  for (int attempt = 1;; ++attempt) {
    OCTAVO_CHECK(stop.Check());
    auto outcome = RunOnce(*stub, options, submission, stop, observer);
    if (outcome) return std::move(*outcome);
    CallFailure failure = std::move(outcome).error();
    if (attempt >= options.attempts || !MayTryAgain(failure.error)) {
      if (failure.error.code == Code::kUnavailable) {
        failure.error.message = fmt::format("{}: {}", options.address, failure.error.message);
      }
      return Forward(std::move(failure.error));
    }
    const auto wait = Jittered(std::min(failure.retry_after.value_or(pause), options.max_backoff));
    pause = std::min(pause * 2, options.max_backoff);
    if (options.deadline && std::chrono::system_clock::now() + wait >= *options.deadline) {
      return Forward(std::move(failure.error));
    }
    OCTAVO_CHECK(Sleep(wait, stop));
  }
}

Status CheckHealth(const std::string& address, std::chrono::milliseconds timeout) {
  const auto stub = grpc::health::v1::Health::NewStub(Connect(address));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout);
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
