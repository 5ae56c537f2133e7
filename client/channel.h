// SPDX-License-Identifier: Apache-2.0
// Connections to a service, and calls that a stop token cancels.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>
#include <thread>

#include "core/base/stop_token.h"

namespace octavo::client {

std::shared_ptr<grpc::Channel> Connect(const std::string& address);

// Cancels a call when its stop token is set.
class CancelOnStop {
 public:
  CancelOnStop(grpc::ClientContext& context, const StopToken& stop);

 private:
  std::jthread thread_;
};

}  // namespace octavo::client
