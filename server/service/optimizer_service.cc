// SPDX-License-Identifier: Apache-2.0
#include "server/service/optimizer_service.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "server/convert/request.h"
#include "server/convert/spec.h"
#include "server/convert/status.h"
#include "server/service/caller.h"

namespace octavo::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A deadline of more than a year is none.  One of centuries does not fit std::chrono.
std::optional<SteadyClock::time_point> DeadlineOf(const grpc::CallbackServerContext& context) {
  constexpr int64_t kYear = 365 * 24 * 3600;
  const gpr_timespec deadline = context.raw_deadline();
  const gpr_timespec left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
  if (left.tv_sec >= kYear) return std::nullopt;
  const auto time = std::chrono::seconds(left.tv_sec) + std::chrono::nanoseconds(left.tv_nsec);
  return SteadyClock::now() + std::max<SteadyClock::duration>(time, {});
}

// Lives until OnDone, which gRPC calls after Finish and after all pending operations.
class OptimizeReactor : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                        public Transport {
 public:
  OptimizeReactor(SessionServices& services, RpcProbe& probe, grpc::CallbackServerContext* context)
      : probe_(probe), context_(context) {
    probe_.RpcStarted(kOptimizeRpc);
    session_ = Session::Start(services, *this,
                              {.client = ClientOf(*context), .deadline = DeadlineOf(*context)});
  }

  // Called by the session.
  void Read() override { StartRead(&request_); }
  void Write(Event event) override {
    event_ = BytesOf(std::move(event));
    StartWrite(&event_);
  }
  void Finish(CallStatus outcome) override {
    const grpc::Status status = StatusFrom(outcome);
    code_ = status.error_code();
    ServerBidiReactor::Finish(status);
  }
  void Abort() override { context_->TryCancel(); }

  // Called by gRPC.
  void OnReadDone(bool ok) override {
    if (!ok) {
      // A broken call ends the input too; OnCancel reports that to the session.
      if (!context_->IsCancelled()) session_->InputEnded();
      return;
    }
    auto request = ReadRequest(request_, ++messages_);
    request_.Clear();
    if (!request) return session_->SpecArrived(Forward(std::move(request).error()));
    Deliver(*request);
  }
  void OnWriteDone(bool ok) override { session_->Written(ok); }
  void OnCancel() override { session_->Cancelled(); }
  void OnDone() override {
    const std::chrono::duration<double> took = SteadyClock::now() - begin_;
    probe_.RpcHandled(kOptimizeRpc, code_, took.count());
    delete this;
  }

 private:
  void Deliver(v1::OptimizeRequest& request) {
    switch (request.request_case()) {
      case v1::OptimizeRequest::kSpec:
        return session_->SpecArrived(SpecFromWire(request.spec()));
      case v1::OptimizeRequest::kChunk: {
        v1::Chunk& chunk = *request.mutable_chunk();
        return session_->ChunkArrived(chunk.blob(), chunk.offset(),
                                      std::move(*chunk.mutable_data()));
      }
      case v1::OptimizeRequest::REQUEST_NOT_SET:
        break;
    }
    session_->SpecArrived(Fail(Code::kInvalidArgument, "a request has neither a spec nor a chunk")
                              .Field("request")
                              .Reason("INVALID_SPEC"));
  }

  RpcProbe& probe_;
  grpc::CallbackServerContext* context_;
  const SteadyClock::time_point begin_ = SteadyClock::now();
  std::shared_ptr<Session> session_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer event_;
  int messages_ = 0;
  grpc::StatusCode code_ = grpc::StatusCode::UNKNOWN;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* OptimizerService::Optimize(
    grpc::CallbackServerContext* context) {
  return new OptimizeReactor(services_, probe_, context);
}

}  // namespace octavo::server
