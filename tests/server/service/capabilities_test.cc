// SPDX-License-Identifier: Apache-2.0
// Capabilities, health and reflection over a real connection.
#include <gtest/gtest.h>

#include "grpc/health/v1/health.grpc.pb.h"
#include "octavo/v1/capabilities.grpc.pb.h"
#include "tests/server/service/loopback.h"

namespace octavo::server {
namespace {

grpc::Status Check(Loopback& server, const std::string& service,
                   grpc::health::v1::HealthCheckResponse& response) {
  auto stub = grpc::health::v1::Health::NewStub(server.channel);
  grpc::ClientContext context;
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  return stub->Check(&context, request, &response);
}

TEST(Capabilities, NameTheTablesAndTheLimits) {
  Loopback server({.model_bytes = 12345, .value_bytes = 54321, .workers = 3});
  auto stub = v1::Capabilities::NewStub(server.channel);
  grpc::ClientContext context;
  v1::GetCapabilitiesResponse response;
  ASSERT_TRUE(stub->GetCapabilities(&context, {}, &response).ok());
  EXPECT_EQ(response.octavo_version(), "0.1.0-test");
  EXPECT_EQ(response.targets(0), "cpu-int8");
  EXPECT_EQ(response.isolation(), v1::ISOLATION_PROCESS);
  EXPECT_EQ(response.sandbox_level(), 2u);
  EXPECT_EQ(response.limits().model_bytes(), 12345u);
  EXPECT_EQ(response.limits().value_bytes(), 54321u);
  EXPECT_EQ(response.limits().workers(), 3u);
  EXPECT_EQ(response.limits().message_bytes(), 4u << 20);
}

TEST(Health, AnswersForTheServerAndForEachService) {
  Loopback server;
  grpc::health::v1::HealthCheckResponse response;
  for (const char* service : {"", "octavo.v1.Optimizer", "octavo.v1.Capabilities",
                              "octavo.v1.Blobs", "octavo.v1.Jobs", "liveness"}) {
    ASSERT_TRUE(Check(server, service, response).ok()) << service;
    EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::SERVING) << service;
  }
  EXPECT_EQ(Check(server, "no.such.Service", response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST(Health, TurnsNotServingBeforeTheServerGoes) {
  Loopback server;
  server.grpc->SetServing(false);
  grpc::health::v1::HealthCheckResponse response;
  ASSERT_TRUE(Check(server, "octavo.v1.Optimizer", response).ok());
  EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
}

TEST(Health, LivenessIsNotReadiness) {
  using Answer = grpc::health::v1::HealthCheckResponse;
  Loopback server;
  Answer response;
  server.grpc->SetServing(false);
  ASSERT_TRUE(Check(server, "liveness", response).ok());
  EXPECT_EQ(response.status(), Answer::SERVING);
  server.grpc->SetServing(true);
  server.grpc->SetAlive(false);
  ASSERT_TRUE(Check(server, "liveness", response).ok());
  EXPECT_EQ(response.status(), Answer::NOT_SERVING);
  ASSERT_TRUE(Check(server, "", response).ok());
  EXPECT_EQ(response.status(), Answer::SERVING);
}

TEST(GrpcServer, APortThatIsTakenIsAUsageError) {
  Loopback server;
  auto second =
      GrpcServer::Start({.listen = server.grpc->address(), .caps = DefaultConnectionCaps()},
                        server.services, {}, server.rpc_probe);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUsage);
  EXPECT_EQ(second.error().field, "--listen");
}

}  // namespace
}  // namespace octavo::server
