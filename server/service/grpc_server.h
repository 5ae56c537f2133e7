// SPDX-License-Identifier: Apache-2.0
// The gRPC server of octavod: all services, health and reflection on one port.
#pragma once

#include <grpcpp/server.h>

#include <chrono>
#include <memory>
#include <string>

#include "core/base/status.h"
#include "server/service/acceptor.h"
#include "server/service/blobs_service.h"
#include "server/service/capabilities_service.h"
#include "server/service/jobs_service.h"
#include "server/service/optimizer_service.h"

namespace octavo::server {

struct GrpcSettings {
  std::string listen = {};  // HOST:PORT; port 0 selects a free port
  bool reflection = true;
  ConnectionCaps caps = {};
  Isolation isolation = {};
};

class GrpcServer {
 public:
  // Fails with kUsage if the server cannot bind the address.  Without `blobs`, calls of the service
  // Blobs are UNIMPLEMENTED.
  static Result<std::unique_ptr<GrpcServer>> Start(const GrpcSettings& settings,
                                                   SessionServices& services,
                                                   const Catalog& catalog, RpcProbe& probe,
                                                   BlobServices* blobs = nullptr);
  ~GrpcServer();

  // The bound address as HOST:PORT.
  const std::string& address() const { return address_; }
  // Sets the answer of health checks, for every service.
  void SetServing(bool serving);
  // Sets that of the service "liveness", which a drain does not change.
  void SetAlive(bool alive);
  // Tells clients to disconnect and waits for their calls; at the deadline it cancels them.  Must
  // not be called from a reactor.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  GrpcServer(SessionServices& services, const Catalog& catalog, const Isolation& isolation,
             RpcProbe& probe, BlobServices* blobs);

  OptimizerService optimizer_;
  CapabilitiesService capabilities_;
  BlobsService blobs_;
  JobsService jobs_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace octavo::server
