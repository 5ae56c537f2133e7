// SPDX-License-Identifier: Apache-2.0
// Optimizer.Optimize: a reactor that carries messages between gRPC and a Session.
#pragma once

#include "octavo/v1/optimizer.grpc.pb.h"
#include "server/service/rpc_probe.h"
#include "server/session/session.h"

namespace octavo::server {

// Takes the bytes of messages, so that they can be checked before protobuf converts them.
class OptimizerService
    : public v1::Optimizer::WithRawCallbackMethod_Optimize<v1::Optimizer::Service> {
 public:
  OptimizerService(SessionServices& services, RpcProbe& probe)
      : services_(services), probe_(probe) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Optimize(
      grpc::CallbackServerContext* context) override;

 private:
  SessionServices& services_;
  RpcProbe& probe_;
};

}  // namespace octavo::server
