// SPDX-License-Identifier: Apache-2.0
// A complete gRPC server on its own port, with a fake job.
#pragma once

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "server/service/grpc_server.h"
#include "tests/server/logic/fake_runner.h"

namespace octavo::server {

class SilentRpcProbe : public RpcProbe {
 public:
  void RpcStarted(const RpcName&) override { ++started; }
  void RpcHandled(const RpcName&, grpc::StatusCode, double) override { ++handled; }
  std::atomic<int> started{0}, handled{0};
};

struct Loopback {
  explicit Loopback(Limits given = {}) : limits(std::move(given)) {
    auto started = GrpcServer::Start("127.0.0.1:0", services,
                                     {.version = "0.1.0-test",
                                      .targets = {"cpu-int8"},
                                      .ops = {"Conv"},
                                      .numerics_modes = {"onnx"},
                                      .passes = {"quantize"}},
                                     rpc_probe);
    EXPECT_TRUE(started) << started.error().message;
    grpc = std::move(*started);
    channel = grpc::CreateChannel(grpc->address(), grpc::InsecureChannelCredentials());
  }
  ~Loopback() {  // in the daemon's order
    grpc = nullptr;
    loop.Stop();
  }

  Limits limits;
  FakeRunner runner;
  CountingProbe probe;
  SilentRpcProbe rpc_probe;
  EventLoop loop;
  WorkPool disk{2};
  Scheduler scheduler{limits, runner.AsRunner(), probe};
  SessionServices services{
      .limits = limits, .scheduler = scheduler, .disk = disk, .loop = loop, .probe = probe};
  std::unique_ptr<GrpcServer> grpc;
  std::shared_ptr<grpc::Channel> channel;
};

}  // namespace octavo::server
