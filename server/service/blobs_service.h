// SPDX-License-Identifier: Apache-2.0
// The service Blobs: reactors that carry messages between gRPC and server/blobs.
#pragma once

#include "octavo/v1/blobs.grpc.pb.h"
#include "server/blobs/blob_services.h"
#include "server/service/rpc_probe.h"

namespace octavo::server {

// Takes the bytes of messages, so that they can be checked before protobuf converts them.
class BlobsService : public v1::Blobs::WithRawCallbackMethod_FindMissingBlobs<
                         v1::Blobs::WithRawCallbackMethod_QueryBlobWrite<
                             v1::Blobs::WithRawCallbackMethod_WriteBlob<
                                 v1::Blobs::WithRawCallbackMethod_ReadBlob<v1::Blobs::Service>>>> {
 public:
  // Without `services`, which is a service without a state folder, each call is UNIMPLEMENTED.
  BlobsService(BlobServices* services, RpcProbe& probe) : services_(services), probe_(probe) {}

  grpc::ServerUnaryReactor* FindMissingBlobs(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* QueryBlobWrite(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* WriteBlob(grpc::CallbackServerContext* context,
                                                       grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadBlob(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request) override;

 private:
  BlobServices* services_;
  RpcProbe& probe_;
};

}  // namespace octavo::server
