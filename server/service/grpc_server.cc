// SPDX-License-Identifier: Apache-2.0
#include "server/service/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <climits>
#include <mutex>

namespace octavo::server {
namespace {

constexpr int kSecond = 1000;

void EnablePlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

// Opening a connection is cheap, so these limits keep clients from holding connections for nothing.
void Configure(grpc::ServerBuilder& builder, const Limits& limits) {
  const auto bytes = static_cast<int>(limits.message_bytes);
  builder.SetMaxReceiveMessageSize(bytes);
  builder.SetMaxSendMessageSize(bytes);
  // gRPC decompresses a message before it checks its size.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument("grpc.server_handshake_timeout_ms", 10 * kSecond);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 300 * kSecond);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, 300 * kSecond);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, INT_MAX);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60 * kSecond);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20 * kSecond);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 20 * kSecond);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 100);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
  // With port reuse, a second server on the port would take part of the clients unnoticed.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  grpc::ResourceQuota quota("octavod");
  quota.Resize(512u << 20);
  builder.SetResourceQuota(quota);
}

}  // namespace

GrpcServer::GrpcServer(SessionServices& services, const Catalog& catalog, RpcProbe& probe)
    : optimizer_(services, probe), capabilities_(catalog, services.limits, probe) {}

GrpcServer::~GrpcServer() { Shutdown(std::chrono::system_clock::now()); }

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(const std::string& listen,
                                                      SessionServices& services,
                                                      const Catalog& catalog, RpcProbe& probe) {
  EnablePlugins();
  std::unique_ptr<GrpcServer> self(new GrpcServer(services, catalog, probe));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(listen, grpc::InsecureServerCredentials(), &port);
  Configure(builder, services.limits);
  builder.RegisterService(&self->optimizer_);
  builder.RegisterService(&self->capabilities_);
  self->server_ = builder.BuildAndStart();
  if (self->server_ == nullptr || port == 0) {
    self->server_ = nullptr;
    return Fail(Code::kUsage, "cannot listen on '{}'", listen).Field("--listen");
  }
  self->address_ = fmt::format("{}:{}", listen.substr(0, listen.rfind(':')), port);
  self->SetServing(true);
  return self;
}

void GrpcServer::SetServing(bool serving) {
  for (const char* service : {"", "octavo.v1.Optimizer", "octavo.v1.Capabilities"}) {
    server_->GetHealthCheckService()->SetServingStatus(service, serving);
  }
}

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  if (server_ == nullptr) return;
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(deadline);
  server_->Wait();
  server_ = nullptr;
}

}  // namespace octavo::server
