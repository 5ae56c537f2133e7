// SPDX-License-Identifier: Apache-2.0
// The observer of RPCs, for metrics.  Thread-safe.
#pragma once

#include <grpcpp/support/status.h>

#include <string_view>

namespace octavo::server {

// Names as in the .proto, "octavo.v1.Optimizer" and "Optimize".
struct RpcName {
  std::string_view service = {};
  std::string_view method = {};
};

inline constexpr RpcName kOptimizeRpc{"octavo.v1.Optimizer", "Optimize"};
inline constexpr RpcName kCapabilitiesRpc{"octavo.v1.Capabilities", "GetCapabilities"};
inline constexpr RpcName kRpcs[] = {kOptimizeRpc, kCapabilitiesRpc};

class RpcProbe {
 public:
  virtual ~RpcProbe() = default;
  virtual void RpcStarted(const RpcName& rpc) = 0;
  virtual void RpcHandled(const RpcName& rpc, grpc::StatusCode code, double seconds) = 0;
};

}  // namespace octavo::server
