// SPDX-License-Identifier: Apache-2.0
#include "client/channel.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace octavo::client {
namespace {

constexpr auto kPollPause = std::chrono::milliseconds(20);
constexpr auto kSilence = std::chrono::seconds(1);

}  // namespace

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(8 << 20);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // This is also how long an attempt to connect may take; one that is refused fails at once.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  // A new channel connects anew, whatever an old one to the same address waits for.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

void AwaitConnection(grpc::Channel& channel, const std::string& address, const StopToken& stop,
                     const job::Observer& observer) {
  const auto end = std::chrono::system_clock::now() + kSilence;
  for (;;) {
    const grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
    if (state != GRPC_CHANNEL_IDLE && state != GRPC_CHANNEL_CONNECTING) return;
    if (stop.StopRequested()) return;
    const auto now = std::chrono::system_clock::now();
    if (now >= end) break;
    channel.WaitForStateChange(state, std::min(end, now + kPollPause));
  }
  const std::string what = address + " has not answered for a second";
  observer({.stage = "connect", .pass = what});
}

CancelOnStop::CancelOnStop(grpc::ClientContext& context, const StopToken& stop)
    : thread_([&context, &stop](const std::stop_token& done) {
        std::mutex mutex;
        std::condition_variable_any ended;
        std::unique_lock lock(mutex);
        while (!done.stop_requested()) {
          if (stop.StopRequested()) return context.TryCancel();
          // Wakes up at once when the call has ended.
          ended.wait_for(lock, done, kPollPause, [] { return false; });
        }
      }) {}

}  // namespace octavo::client
