// SPDX-License-Identifier: Apache-2.0
// Capabilities.GetCapabilities: the ops, passes, rules, kernels, targets and limits of this server.
#pragma once

#include "octavo/v1/capabilities.grpc.pb.h"
#include "server/service/catalog.h"
#include "server/service/rpc_probe.h"
#include "server/session/limits.h"

namespace octavo::server {

// How jobs are kept apart from the server.
struct Isolation {
  bool processes = false;
  int sandbox_level = 0;  // 0 to 3: server/sandbox/sandbox.h
};

class CapabilitiesService : public v1::Capabilities::CallbackService {
 public:
  CapabilitiesService(const Catalog& catalog, const Limits& limits, const Isolation& isolation,
                      RpcProbe& probe);

  grpc::ServerUnaryReactor* GetCapabilities(grpc::CallbackServerContext* context,
                                            const v1::GetCapabilitiesRequest* request,
                                            v1::GetCapabilitiesResponse* response) override;

 private:
  v1::GetCapabilitiesResponse answer_;
  RpcProbe& probe_;
};

}  // namespace octavo::server
