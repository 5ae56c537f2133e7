// SPDX-License-Identifier: Apache-2.0
// Who calls.
#pragma once

#include <grpcpp/server_context.h>

#include <string>

namespace octavo::server {

// The peer without its port ("ipv4:10.0.0.7:51234", "ipv6:%5B::1%5D:51234"): all calls of one
// address count as one client.
inline std::string ClientOf(const grpc::CallbackServerContext& context) {
  const std::string peer = context.peer();
  return peer.substr(0, peer.rfind(':'));
}

}  // namespace octavo::server
