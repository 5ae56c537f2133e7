// SPDX-License-Identifier: Apache-2.0
#include "server/service/blobs_service.h"

#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "server/blobs/blob_read.h"
#include "server/blobs/blob_write.h"
#include "server/convert/blobs.h"
#include "server/convert/status.h"
#include "server/service/caller.h"

namespace octavo::server {
namespace {

// Counts one call.
class Record {
 public:
  Record(RpcProbe& probe, const RpcName& rpc) : probe_(probe), rpc_(rpc) { probe.RpcStarted(rpc); }
  grpc::Status Ended(const CallStatus& outcome) {
    grpc::Status status = StatusFrom(outcome);
    code_ = status.error_code();
    return status;
  }
  void Done() {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
    probe_.RpcHandled(rpc_, code_, took.count());
  }

 private:
  RpcProbe& probe_;
  const RpcName& rpc_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  grpc::StatusCode code_ = grpc::StatusCode::UNKNOWN;
};

CallStatus NoStore() {
  return {.error = Fail(Code::kUnimplemented,
                        "this service keeps no blobs: octavod runs without --state-dir")
                       .Reason("UNSUPPORTED")
                       .error()};
}

// A call that one work item answers.  Lives until OnDone.
class UnaryReactor : public grpc::ServerUnaryReactor {
 public:
  using Answer = std::function<Result<grpc::ByteBuffer>(BlobStore&)>;

  UnaryReactor(BlobServices* services, RpcProbe& probe, const RpcName& rpc,
               grpc::ByteBuffer* response, Answer answer)
      : record_(probe, rpc), response_(response), answer_(std::move(answer)) {
    if (services == nullptr) {
      Finish(record_.Ended(NoStore()));
      return;
    }
    services->pool.Post([this, services] {
      auto bytes = answer_(services->store);
      if (bytes) *response_ = *bytes;
      Finish(record_.Ended(bytes ? CallStatus{} : FromStore(bytes.error())));
    });
  }
  void OnDone() override {
    record_.Done();
    delete this;
  }

 private:
  Record record_;
  grpc::ByteBuffer* response_;
  const Answer answer_;
};

class WriteReactor : public grpc::ServerReadReactor<grpc::ByteBuffer>, public BlobWriteTransport {
 public:
  WriteReactor(BlobServices* services, RpcProbe& probe, grpc::CallbackServerContext* context,
               grpc::ByteBuffer* response)
      : record_(probe, kWriteBlobRpc), context_(context), response_(response) {
    if (services == nullptr) {
      ServerReadReactor::Finish(record_.Ended(NoStore()));
      return;
    }
    call_ = BlobWrite::Start(*services, *this, ClientOf(*context));
  }

  // Called by the call.
  void Read() override { StartRead(&request_); }
  void Finish(CallStatus status, uint64_t size_bytes) override {
    if (!status.error) *response_ = StoredToBytes(size_bytes);
    ServerReadReactor::Finish(record_.Ended(status));
  }

  // Called by gRPC.
  void OnReadDone(bool ok) override {
    if (!ok) {
      // A broken call ends the input too; OnCancel reports that.
      if (!context_->IsCancelled()) call_->InputEnded();
      return;
    }
    auto message = ReadWrite(request_, ++messages_);
    request_.Clear();
    if (!message) return call_->InvalidArrived(message.error());
    if (auto* chunk = std::get_if<WrittenChunk>(&*message)) {
      return call_->ChunkArrived(chunk->offset, std::move(chunk->bytes));
    }
    call_->DigestArrived(std::get<BlobDigest>(std::move(*message)));
  }
  void OnCancel() override {
    if (call_ != nullptr) call_->Cancelled();
  }
  void OnDone() override {
    record_.Done();
    delete this;
  }

 private:
  Record record_;
  grpc::CallbackServerContext* context_;
  grpc::ByteBuffer* response_;
  std::shared_ptr<BlobWrite> call_;
  grpc::ByteBuffer request_;
  int messages_ = 0;
};

class ReadReactor : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public BlobReadTransport {
 public:
  ReadReactor(BlobServices* services, RpcProbe& probe, grpc::CallbackServerContext* context,
              const grpc::ByteBuffer& request)
      : record_(probe, kReadBlobRpc), context_(context) {
    if (services == nullptr) {
      ServerWriteReactor::Finish(record_.Ended(NoStore()));
      return;
    }
    call_ = BlobRead::Start(*services, *this, ClientOf(*context), ReadRange(request));
  }

  // Called by the call.
  void Write(Blob bytes) override {
    data_ = DataToBytes(bytes);
    StartWrite(&data_);
  }
  void Finish(CallStatus status) override { ServerWriteReactor::Finish(record_.Ended(status)); }
  void Abort() override { context_->TryCancel(); }

  // Called by gRPC.
  void OnWriteDone(bool ok) override { call_->Written(ok); }
  void OnCancel() override {
    if (call_ != nullptr) call_->Cancelled();
  }
  void OnDone() override {
    record_.Done();
    delete this;
  }

 private:
  Record record_;
  grpc::CallbackServerContext* context_;
  std::shared_ptr<BlobRead> call_;
  grpc::ByteBuffer data_;
};

}  // namespace

grpc::ServerUnaryReactor* BlobsService::FindMissingBlobs(grpc::CallbackServerContext*,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* response) {
  return new UnaryReactor(services_, probe_, kFindMissingBlobsRpc, response,
                          [request](BlobStore& store) -> Result<grpc::ByteBuffer> {
                            OCTAVO_TRY(const auto digests, ReadFindMissing(*request));
                            OCTAVO_TRY(const auto missing, FindMissing(store, digests));
                            return MissingToBytes(missing);
                          });
}

grpc::ServerUnaryReactor* BlobsService::QueryBlobWrite(grpc::CallbackServerContext*,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* response) {
  return new UnaryReactor(services_, probe_, kQueryBlobWriteRpc, response,
                          [request](const BlobStore& store) -> Result<grpc::ByteBuffer> {
                            OCTAVO_TRY(const BlobDigest digest, ReadQueryWrite(*request));
                            OCTAVO_TRY(const BlobWriteState state, store.QueryWrite(digest));
                            return StateToBytes(state);
                          });
}

grpc::ServerReadReactor<grpc::ByteBuffer>* BlobsService::WriteBlob(
    grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  return new WriteReactor(services_, probe_, context, response);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* BlobsService::ReadBlob(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return new ReadReactor(services_, probe_, context, *request);
}

}  // namespace octavo::server
