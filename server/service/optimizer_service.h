// SPDX-License-Identifier: Apache-2.0
// Optimizer.Optimize: a reactor that carries messages between gRPC and a Session.
#pragma once

#include "octavo/v1/optimizer.grpc.pb.h"
#include "server/service/rpc_probe.h"
#include "server/session/session.h"

namespace octavo::server {

class OptimizerService : public v1::Optimizer::CallbackService {
 public:
  OptimizerService(SessionServices& services, RpcProbe& probe)
      : services_(services), probe_(probe) {}

  grpc::ServerBidiReactor<v1::OptimizeRequest, v1::OptimizeEvent>* Optimize(
      grpc::CallbackServerContext* context) override;

 private:
  SessionServices& services_;
  RpcProbe& probe_;
};

}  // namespace octavo::server
