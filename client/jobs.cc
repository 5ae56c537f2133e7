// SPDX-License-Identifier: Apache-2.0
#include "client/jobs.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "client/channel.h"
#include "client/download.h"
#include "client/wire.h"
#include "octavo/v1/blobs.grpc.pb.h"
#include "octavo/v1/jobs.grpc.pb.h"

namespace octavo::client {
namespace {

constexpr uint32_t kPage = 500;
constexpr auto kWaitForConnection = std::chrono::seconds(20);
constexpr auto kReconnectPause = std::chrono::milliseconds(500);

// A call that a stop token cancels.
struct Call {
  explicit Call(const StopToken& stop) : cancel(context, stop) {}
  grpc::ClientContext context;
  const CancelOnStop cancel;
};

Status Check(const grpc::Status& status, const StopToken& stop, const std::string& address) {
  OCTAVO_CHECK(stop.Check());
  if (status.ok()) return {};
  Error error = FailureFrom(status).error;
  if (error.code == Code::kUnavailable)
    error.message = fmt::format("{}: {}", address, error.message);
  return Forward(std::move(error));
}

bool HasEnded(const v1::Job& job) {
  return job.state() != v1::JOB_STATE_QUEUED && job.state() != v1::JOB_STATE_RUNNING;
}

}  // namespace

struct JobsClient::State {
  const std::string address;
  const StopToken stop;
  const job::Observer notice;
  const std::shared_ptr<grpc::Channel> channel = Connect(address);
  const std::unique_ptr<v1::Jobs::Stub> stub = v1::Jobs::NewStub(channel);

  template <class Request, class Response>
  Result<Response> Ask(grpc::Status (v1::Jobs::Stub::*method)(grpc::ClientContext*, const Request&,
                                                              Response*),
                       const Request& request) {
    AwaitConnection(*channel, address, stop, notice);
    Call call(stop);
    call.context.set_deadline(std::chrono::system_clock::now() + kWaitForConnection);
    Response response;
    OCTAVO_CHECK(Check((*stub.*method)(&call.context, request, &response), stop, address));
    return response;
  }
};

JobsClient::JobsClient(const std::string& address, const StopToken& stop, job::Observer notice)
    : state_(new State{.address = address, .stop = stop, .notice = std::move(notice)}) {}
JobsClient::~JobsClient() = default;

Result<v1::Job> JobsClient::Get(const std::string& id) {
  v1::GetJobRequest request;
  request.set_job_id(id);
  return state_->Ask(&v1::Jobs::Stub::GetJob, request);
}

Result<std::vector<v1::Job>> JobsClient::List(v1::JobState state, size_t limit) {
  std::vector<v1::Job> jobs;
  v1::ListJobsRequest request;
  request.set_state(state);
  do {
    request.set_page_size(static_cast<uint32_t>(std::min<size_t>(kPage, limit - jobs.size())));
    OCTAVO_TRY(v1::ListJobsResponse page, state_->Ask(&v1::Jobs::Stub::ListJobs, request));
    for (v1::Job& job : *page.mutable_jobs()) jobs.push_back(std::move(job));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() && jobs.size() < limit);
  return jobs;
}

Result<v1::Job> JobsClient::Watch(const std::string& id,
                                  const std::function<void(const v1::Job&)>& show) {
  v1::WatchJobRequest request;
  request.set_job_id(id);
  int attempts = 0;
  for (auto lost = std::chrono::steady_clock::time_point::max();;) {
    Call call(state_->stop);
    const auto stream = state_->stub->WatchJob(&call.context, request);
    v1::JobEvent event;
    while (stream->Read(&event)) {
      lost = std::chrono::steady_clock::time_point::max();
      attempts = 0;
      request.set_after_sequence(event.sequence());
      // The newest job with an action digest may be another one when asked again.
      request.set_job_id(event.job().job_id());
      show(event.job());
      if (HasEnded(event.job())) return std::move(*event.mutable_job());
    }
    const auto ok = Check(stream->Finish(), state_->stop, state_->address);
    if (!ok && ok.error().code != Code::kUnavailable) return Forward(ok.error());
    const auto now = std::chrono::steady_clock::now();
    lost = std::min(lost, now);
    if (now - lost > kWaitForConnection) {
      if (!ok) return Forward(ok.error());
      return Fail(Code::kUnavailable, "{}: the service ended the call before the job",
                  state_->address);
    }
    const std::string why =
        fmt::format("in 0.5 s, attempt {}: {}", ++attempts + 1,
                    ok ? state_->address + " ended the call" : ok.error().message);
    state_->notice({.stage = "retry", .pass = why});
    std::this_thread::sleep_for(kReconnectPause);
  }
}

Result<v1::Job> JobsClient::Cancel(const std::string& id) {
  v1::CancelJobRequest request;
  request.set_job_id(id);
  return state_->Ask(&v1::Jobs::Stub::CancelJob, request);
}

namespace {

// Reads on from `received` bytes of blob `index`, which grows.
tl::expected<void, CallFailure> ReadOn(v1::Blobs::Stub& stub, const StopToken& stop,
                                       const v1::BlobInfo& info, uint32_t index, uint64_t& received,
                                       const std::function<Status(const v1::Chunk&)>& add) {
  const auto fail = [](Error error) {
    return tl::unexpected(CallFailure{.error = std::move(error)});
  };
  v1::ReadBlobRequest request;
  request.mutable_digest()->set_sha256(info.sha256());
  request.mutable_digest()->set_size_bytes(info.size_bytes());
  request.set_offset(received);
  Call call(stop);
  const auto stream = stub.ReadBlob(&call.context, request);
  v1::ReadBlobResponse response;
  v1::Chunk chunk;
  while (stream->Read(&response)) {
    chunk.set_blob(index);
    chunk.set_offset(received);
    chunk.set_data(std::move(*response.mutable_data()));
    received += chunk.data().size();
    if (auto ok = add(chunk); !ok) {
      call.context.TryCancel();
      (void)stream->Finish();
      return fail(ok.error());
    }
  }
  const grpc::Status status = stream->Finish();
  if (auto ok = stop.Check(); !ok) return fail(ok.error());
  if (!status.ok()) return tl::unexpected(FailureFrom(status));
  if (received == info.size_bytes()) return {};
  return fail(Fail(Code::kUnavailable, "the service's response ended early").error());
}

}  // namespace

Result<job::Outcome> JobsClient::Fetch(const v1::Job& job, const std::string& folder,
                                       const RetryPolicy& policy, const job::Observer& observer) {
  const auto stub = v1::Blobs::NewStub(state_->channel);
  Download download(folder);
  for (const v1::BlobInfo& info : job.results()) OCTAVO_CHECK(download.Begin(info));
  const auto add = [&](const v1::Chunk& chunk) -> Status {
    OCTAVO_CHECK(download.Add(chunk));
    observer({.stage = "download",
              .done = static_cast<int64_t>(download.received()),
              .total = static_cast<int64_t>(download.announced())});
    return {};
  };
  for (int i = 0; i < job.results_size(); ++i) {
    Retry retry(policy, std::nullopt);
    uint64_t received = 0;
    while (received < job.results(i).size_bytes()) {
      const uint64_t before = received;
      auto read =
          ReadOn(*stub, state_->stop, job.results(i), static_cast<uint32_t>(i), received, add);
      if (read) break;
      if (received > before) retry.Progressed();
      const auto pause = retry.PauseAfter(read.error());
      if (!pause)
        return Forward(FinalError(std::move(read).error(), state_->address, retry.attempts()));
      OCTAVO_CHECK(
          WaitToRetry(*pause, read.error(), state_->address, retry, state_->stop, observer));
    }
  }
  return download.Finish(job.finished());
}

Error ErrorOf(const v1::Job& job) {
  const google::rpc::Status& status = job.error();
  return FailureFrom(grpc::Status(static_cast<grpc::StatusCode>(status.code()), status.message(),
                                  status.SerializeAsString()))
      .error;
}

}  // namespace octavo::client
