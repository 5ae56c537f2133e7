// SPDX-License-Identifier: Apache-2.0
#include "server/service/optimizer_service.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "server/convert/request.h"
#include "server/convert/spec.h"
#include "server/convert/status.h"

namespace octavo::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The peer without its port ("ipv4:10.0.0.7:51234", "ipv6:%5B::1%5D:51234"): all calls of one
// address count as one client.
std::string ClientOf(const grpc::CallbackServerContext& context) {
  const std::string peer = context.peer();
  return peer.substr(0, peer.rfind(':'));
}

std::optional<SteadyClock::time_point> DeadlineOf(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
  return SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                  deadline - std::chrono::system_clock::now());
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
