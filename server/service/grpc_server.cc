// SPDX-License-Identifier: Apache-2.0
#include "server/service/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/impl/server_builder_plugin.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <climits>
#include <memory>
#include <mutex>
#include <vector>

namespace octavo::server {
namespace {

constexpr int kSecond = 1000;

// gRPC's library of reflection adds itself to every server of the process that links it.
class WithoutReflection : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const std::unique_ptr<grpc::ServerBuilderPlugin>& plugin) {
      return dynamic_cast<grpc::reflection::ProtoServerReflectionPlugin*>(plugin.get()) != nullptr;
    });
  }
};

void EnablePlugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

// Threads of synchronous services.  Reflection is the only one; each of its streams holds a thread.
constexpr int kMaxThreads = 32;

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
  // Pings are answered, and no longer read while 10,000 answers wait.  To count strikes costs more:
  // gRPC 1.51 nests an error for each, 200 MiB for the 4,000 pings of one read.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 100);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 8 << 10);
  grpc::ResourceQuota quota("octavod");
  quota.Resize(512u << 20);
  quota.SetMaxThreads(kMaxThreads);
  builder.SetResourceQuota(quota);
}

}  // namespace

GrpcServer::GrpcServer(SessionServices& services, const Catalog& catalog,
                       const Isolation& isolation, RpcProbe& probe, BlobServices* blobs)
    : optimizer_(services, probe),
      capabilities_(catalog, services.limits, isolation, probe),
      blobs_(blobs, probe),
      jobs_(services.board, services.limits.keep_jobs, probe) {}

GrpcServer::~GrpcServer() { Shutdown(std::chrono::system_clock::now()); }

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcSettings& settings,
                                                      SessionServices& services,
                                                      const Catalog& catalog, RpcProbe& probe,
                                                      BlobServices* blobs) {
  const std::string& listen = settings.listen;
  EnablePlugins();
  std::unique_ptr<GrpcServer> self(
      new GrpcServer(services, catalog, settings.isolation, probe, blobs));
  grpc::ServerBuilder builder;
  OCTAVO_TRY(self->acceptor_, Acceptor::Listen(listen, settings.caps, probe));
  using External = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  const std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor> connections =
      builder.experimental().AddExternalConnectionAcceptor(External::FROM_FD,
                                                           grpc::InsecureServerCredentials());
  Configure(builder, services.limits);
  if (!settings.reflection) builder.SetOption(std::make_unique<WithoutReflection>());
  builder.RegisterService(&self->optimizer_);
  builder.RegisterService(&self->capabilities_);
  builder.RegisterService(&self->blobs_);
  builder.RegisterService(&self->jobs_);
  self->server_ = builder.BuildAndStart();
  if (self->server_ == nullptr) return Fail(Code::kInternal, "gRPC did not start");
  self->acceptor_->Start([connections](int listener, int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.listener_fd = listener;
    parameters.fd = connection;
    connections->HandleNewConnection(&parameters);
  });
  self->address_ =
      fmt::format("{}:{}", listen.substr(0, listen.rfind(':')), self->acceptor_->port());
  self->SetServing(true);
  self->SetAlive(true);
  return self;
}

void GrpcServer::SetServing(bool serving) {
  grpc::HealthCheckServiceInterface& health = *server_->GetHealthCheckService();
  health.SetServingStatus("", serving);
  for (const RpcName& rpc : kRpcs) health.SetServingStatus(std::string(rpc.service), serving);
}

void GrpcServer::SetAlive(bool alive) {
  server_->GetHealthCheckService()->SetServingStatus("liveness", alive);
}

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  if (server_ == nullptr) return;
  acceptor_ = nullptr;
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(deadline);
  server_->Wait();
  server_ = nullptr;
}

}  // namespace octavo::server
