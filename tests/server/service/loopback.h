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
  void ConnectionsOpen(size_t count) override { open = static_cast<int>(count); }
  void ConnectionRejected(ConnectionReject) override { ++rejected; }
  std::atomic<int> started{0}, handled{0}, open{0}, rejected{0};
};

struct Loopback {
  explicit Loopback(Limits given = {}, bool reflection = true,
                    ConnectionCaps caps = DefaultConnectionCaps(), BlobStore* store = nullptr)
      : limits(std::move(given)) {
    if (store != nullptr) {
      blobs.reset(new BlobServices{
          .limits = limits, .store = *store, .pool = disk, .loop = loop, .probe = probe});
    }
    auto started = GrpcServer::Start({.listen = "127.0.0.1:0",
                                      .reflection = reflection,
                                      .caps = caps,
                                      .isolation = {.processes = true, .sandbox_level = 2}},
                                     services,
                                     {.version = "0.1.0-test",
                                      .targets = {"cpu-int8"},
                                      .ops = {"Conv"},
                                      .numerics_modes = {"onnx"},
                                      .passes = {"quantize"}},
                                     rpc_probe, blobs.get());
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
  Flights flights{scheduler, disk, probe};
  SessionServices services{.limits = limits,
                           .scheduler = scheduler,
                           .disk = disk,
                           .loop = loop,
                           .probe = probe,
                           .flights = flights};
  std::unique_ptr<BlobServices> blobs;  // null without a store
  std::unique_ptr<GrpcServer> grpc;
  std::shared_ptr<grpc::Channel> channel;
};

}  // namespace octavo::server
