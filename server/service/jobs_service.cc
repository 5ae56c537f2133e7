// SPDX-License-Identifier: Apache-2.0
#include "server/service/jobs_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <utility>

#include "server/convert/job.h"
#include "server/convert/spec.h"
#include "server/convert/status.h"
#include "server/service/caller.h"
#include "server/session/job_id.h"

namespace octavo::server {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr size_t kMostIdBytes = 128;

double SecondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

CallStatus StatusOf(const Error& error) { return {.error = error}; }

// Sends a job's changes.  All but the calls of gRPC run in steps of the board, the last of which
// deletes it.
class WatchReactor : public grpc::ServerWriteReactor<v1::JobEvent> {
 public:
  WatchReactor(std::shared_ptr<JobBoard> board, std::chrono::milliseconds kept, RpcProbe& probe,
               const v1::WatchJobRequest& request)
      : board_(std::move(board)), kept_(kept), probe_(probe), last_(request.after_sequence()) {
    probe_.RpcStarted(kWatchJobRpc);
    if (board_ == nullptr) {
      End(StatusOf(NoBoard()));
      return;
    }
    board_->Post([this, id = request.job_id()](JobBoard& board) { Begin(board, id); });
  }

  void OnWriteDone(bool ok) override {
    board_->Post([this, ok](JobBoard& board) {
      writing_ = false;
      if (!ok || final_) return End({});
      Next(board);
    });
  }
  void OnCancel() override {
    if (board_ == nullptr) return;
    board_->Post([this](JobBoard&) {
      End(StatusOf(Fail(Code::kCancelled, "the client cancelled the call").error()));
    });
  }
  void OnDone() override {
    probe_.RpcHandled(kWatchJobRpc, code_, SecondsSince(begin_));
    if (board_ == nullptr) {
      delete this;
      return;
    }
    board_->Post([this](JobBoard&) { delete this; });
  }

 private:
  void Begin(JobBoard& board, const std::string& id) {
    auto view = board.Find(id);
    if (!view) return End(StatusOf(view.error()));
    job_id_ = view->record.job.job_id;
    watch_ = board.WatchJob(job_id_, [this](JobBoard& all) { Next(all); });
    Next(board);
  }

  void Next(JobBoard& board) {
    if (writing_ || ended_) return;
    auto view = board.Find(job_id_);
    if (!view) return End(StatusOf(view.error()));
    const uint64_t sequence = view->record.progress.sequence;
    final_ = HasEnded(view->record);
    if (!final_ && sequence <= last_) return;
    last_ = std::max(last_ + 1, sequence);
    event_.set_sequence(last_);
    *event_.mutable_job() = JobToWire(*view, kept_, SpecPart::kModel);
    writing_ = true;
    StartWrite(&event_);
  }

  void End(CallStatus status) {
    if (std::exchange(ended_, true)) return;
    watch_ = nullptr;
    const grpc::Status answer = StatusFrom(status);
    code_ = answer.error_code();
    Finish(answer);
  }

  const std::shared_ptr<JobBoard> board_;
  const std::chrono::milliseconds kept_;
  RpcProbe& probe_;
  const SteadyClock::time_point begin_ = SteadyClock::now();
  std::string job_id_;
  uint64_t last_;
  JobBoard::Watch watch_;
  v1::JobEvent event_;
  bool writing_ = false;
  bool final_ = false;
  bool ended_ = false;
  grpc::StatusCode code_ = grpc::StatusCode::OK;
};

CallStatus Submit(JobBoard& board, v1::SubmitJobRequest& request, const std::string& client,
                  std::chrono::milliseconds kept, v1::Job& answer) {
  auto spec = SpecFromWire(request.spec());
  if (!spec) return StatusOf(spec.error());
  auto job = NewJobOf(request.spec());
  if (!job) return StatusOf(job.error());
  if (request.request_id().size() > kMostIdBytes) {
    return StatusOf(Fail(Code::kInvalidArgument, "request_id has more than {} bytes", kMostIdBytes)
                        .Field("request_id")
                        .Reason("INVALID_SPEC")
                        .error());
  }
  job->request_id = request.request_id();
  job->job_id = NewJobId();
  job->client = client;
  auto view = board.Submit(std::move(*job), *spec);
  if (!view) return view.error();
  answer = JobToWire(*view, kept, SpecPart::kWhole);
  return {};
}

}  // namespace

grpc::ServerUnaryReactor* JobsService::Answer(grpc::CallbackServerContext* context,
                                              const RpcName& rpc, Step step) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  probe_.RpcStarted(rpc);
  const auto finish = [this, reactor, &rpc, begin = SteadyClock::now()](const CallStatus& status) {
    const grpc::Status answer = StatusFrom(status);
    probe_.RpcHandled(rpc, answer.error_code(), SecondsSince(begin));
    reactor->Finish(answer);
  };
  if (board_ == nullptr) {
    finish(StatusOf(NoBoard()));
    return reactor;
  }
  board_->Post([finish, step = std::move(step)](JobBoard& board) { finish(step(board)); });
  return reactor;
}

grpc::ServerUnaryReactor* JobsService::SubmitJob(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* response) {
  return Answer(context, kSubmitJobRpc,
                [this, request, response, client = ClientOf(*context)](JobBoard& board) {
                  grpc::ByteBuffer bytes = *request;
                  auto read = ReadSubmitRequest(bytes);
                  if (!read) return StatusOf(read.error());
                  v1::Job job;
                  CallStatus status = Submit(board, *read, client, kept_, job);
                  bool own = false;
                  (void)grpc::SerializationTraits<v1::Job>::Serialize(job, response, &own);
                  return status;
                });
}

grpc::ServerUnaryReactor* JobsService::GetJob(grpc::CallbackServerContext* context,
                                              const v1::GetJobRequest* request, v1::Job* response) {
  return Answer(context, kGetJobRpc, [this, request, response](JobBoard& board) {
    auto view = board.Find(request->job_id());
    if (!view) return StatusOf(view.error());
    *response = JobToWire(*view, kept_, SpecPart::kWhole);
    return CallStatus{};
  });
}

grpc::ServerUnaryReactor* JobsService::ListJobs(grpc::CallbackServerContext* context,
                                                const v1::ListJobsRequest* request,
                                                v1::ListJobsResponse* response) {
  return Answer(context, kListJobsRpc, [this, request, response](JobBoard& board) {
    auto filter = FilterOf(*request);
    if (!filter) return StatusOf(filter.error());
    auto page = board.List(*filter);
    if (!page) return StatusOf(page.error());
    for (const JobView& view : page->jobs) {
      *response->add_jobs() = JobToWire(view, kept_, SpecPart::kModel);
    }
    response->set_next_page_token(page->next_page_token);
    return CallStatus{};
  });
}

grpc::ServerWriteReactor<v1::JobEvent>* JobsService::WatchJob(grpc::CallbackServerContext*,
                                                              const v1::WatchJobRequest* request) {
  return new WatchReactor(board_, kept_, probe_, *request);
}

grpc::ServerUnaryReactor* JobsService::CancelJob(grpc::CallbackServerContext* context,
                                                 const v1::CancelJobRequest* request,
                                                 v1::Job* response) {
  return Answer(context, kCancelJobRpc, [this, request, response](JobBoard& board) {
    auto view = board.Cancel(request->job_id());
    if (!view) return StatusOf(view.error());
    *response = JobToWire(*view, kept_, SpecPart::kWhole);
    return CallStatus{};
  });
}

grpc::ServerUnaryReactor* JobsService::DeleteJob(grpc::CallbackServerContext* context,
                                                 const v1::DeleteJobRequest* request,
                                                 google::protobuf::Empty*) {
  return Answer(context, kDeleteJobRpc, [request](JobBoard& board) {
    if (auto ok = board.Delete(request->job_id()); !ok) return StatusOf(ok.error());
    return CallStatus{};
  });
}

}  // namespace octavo::server
