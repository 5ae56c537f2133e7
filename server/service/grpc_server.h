// SPDX-License-Identifier: Apache-2.0
// The gRPC server of octavod: both services, health and reflection on one port.
#pragma once

#include <grpcpp/server.h>

#include <chrono>
#include <memory>
#include <string>

#include "core/base/status.h"
#include "server/service/capabilities_service.h"
#include "server/service/optimizer_service.h"

namespace octavo::server {

class GrpcServer {
 public:
  // `listen` is HOST:PORT; port 0 selects a free port.  Fails with kUsage if the server cannot bind
  // the address.
  static Result<std::unique_ptr<GrpcServer>> Start(const std::string& listen,
                                                   SessionServices& services,
                                                   const Catalog& catalog, RpcProbe& probe);
  ~GrpcServer();

  // The bound address as HOST:PORT.
  const std::string& address() const { return address_; }
  // Sets the answer of health checks, for every service.
  void SetServing(bool serving);
  // Tells clients to disconnect and waits for their calls; at the deadline it cancels them.  Must
  // not be called from a reactor.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  GrpcServer(SessionServices& services, const Catalog& catalog, RpcProbe& probe);

  OptimizerService optimizer_;
  CapabilitiesService capabilities_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace octavo::server
