// SPDX-License-Identifier: Apache-2.0
// Connections to a service, and calls that a stop token cancels.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>
#include <thread>

#include "core/base/stop_token.h"
#include "core/job/job.h"

namespace octavo::client {

std::shared_ptr<grpc::Channel> Connect(const std::string& address);

// Connects, and tells the observer in the stage `connect` if the service has not answered within a
// second: an attempt takes up to 20.  Returns when the channel is connected or has failed, at once
// when told to stop, and after that second.
void AwaitConnection(grpc::Channel& channel, const std::string& address, const StopToken& stop,
                     const job::Observer& observer);

// Cancels a call when its stop token is set.
class CancelOnStop {
 public:
  CancelOnStop(grpc::ClientContext& context, const StopToken& stop);

 private:
  std::jthread thread_;
};

}  // namespace octavo::client
