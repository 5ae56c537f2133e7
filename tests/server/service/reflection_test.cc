// SPDX-License-Identifier: Apache-2.0
// Server reflection, requested with raw bytes as by a tool that knows nothing of Octavo.
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include "tests/server/service/loopback.h"

namespace octavo::server {
namespace {

bool Next(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

TEST(Reflection, ListsTheServices) {
  Loopback server;
  grpc::GenericStub stub(server.channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  call->StartCall(nullptr);
  ASSERT_TRUE(Next(queue));
  // ServerReflectionRequest{list_services: ""}: field 7, an empty string.
  const grpc::Slice request(std::string("\x3a\x00", 2));
  call->Write(grpc::ByteBuffer(&request, 1), nullptr);
  ASSERT_TRUE(Next(queue));
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  ASSERT_TRUE(Next(queue));
  grpc::Slice bytes;
  ASSERT_TRUE(answer.DumpToSingleSlice(&bytes).ok());
  const std::string text(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  for (const char* service :
       {"octavo.v1.Optimizer", "octavo.v1.Capabilities", "grpc.health.v1.Health"}) {
    EXPECT_NE(text.find(service), std::string::npos) << service;
  }
  context.TryCancel();
}

TEST(Reflection, CanBeOff) {
  Loopback server({}, /*reflection=*/false);
  grpc::GenericStub stub(server.channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  call->StartCall(nullptr);
  Next(queue);
  grpc::Status status;
  call->Finish(&status, nullptr);
  Next(queue);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace octavo::server
