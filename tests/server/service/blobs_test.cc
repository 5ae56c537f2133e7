// SPDX-License-Identifier: Apache-2.0
// The service Blobs as an independent client sees it.
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include "core/base/sha256.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "octavo/v1/blobs.grpc.pb.h"
#include "tests/server/service/loopback.h"
#include "tests/server/store/disk_harness.h"

namespace octavo::server {
namespace {

v1::Digest WireDigest(const std::string& bytes) {
  v1::Digest digest;
  digest.set_sha256(Sha256Of(bytes));
  digest.set_size_bytes(bytes.size());
  return digest;
}

std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  if (!details.ParseFromString(status.error_details())) return "no details";
  for (const auto& any : details.details()) {
    if (any.UnpackTo(&info)) return info.reason();
  }
  return "no ErrorInfo";
}

struct Service {
  explicit Service(Limits limits = {}, StoreSize size = {.limit_bytes = 64 << 20})
      : disk(size),
        server(std::move(limits), true, DefaultConnectionCaps(), &disk.store()),
        stub(v1::Blobs::NewStub(server.channel)) {}

  v1::QueryBlobWriteResponse Query(const std::string& bytes) {
    grpc::ClientContext context;
    v1::QueryBlobWriteRequest request;
    *request.mutable_digest() = WireDigest(bytes);
    v1::QueryBlobWriteResponse response;
    EXPECT_TRUE(stub->QueryBlobWrite(&context, request, &response).ok());
    return response;
  }
  grpc::Status Read(const v1::ReadBlobRequest& request, std::string& bytes) {
    grpc::ClientContext context;
    const auto stream = stub->ReadBlob(&context, request);
    v1::ReadBlobResponse response;
    while (stream->Read(&response)) bytes += response.data();
    return stream->Finish();
  }

  DiskHarness disk;
  Loopback server;
  std::unique_ptr<v1::Blobs::Stub> stub;
};

// An upload that a test controls message by message.
struct Upload {
  Upload(Service& service, const std::string& bytes)
      : stream(service.stub->WriteBlob(&context, &response)) {
    v1::WriteBlobRequest request;
    *request.mutable_digest() = WireDigest(bytes);
    stream->Write(request);
  }
  bool Send(uint64_t offset, const std::string& bytes) {
    v1::WriteBlobRequest request;
    request.mutable_chunk()->set_offset(offset);
    request.mutable_chunk()->set_data(bytes);
    return stream->Write(request);
  }
  grpc::Status End() {
    stream->WritesDone();
    return stream->Finish();
  }

  grpc::ClientContext context;
  v1::WriteBlobResponse response;
  std::unique_ptr<grpc::ClientWriter<v1::WriteBlobRequest>> stream;
};

TEST(Blobs, gives_back_what_was_written) {
  Service service;
  std::string bytes(5'000'000, 'm');
  bytes[4'999'999] = 'n';
  Upload upload(service, bytes);
  for (size_t offset = 0; offset < bytes.size(); offset += 1 << 20) {
    ASSERT_TRUE(upload.Send(offset, bytes.substr(offset, 1 << 20)));
  }
  const grpc::Status status = upload.End();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(upload.response.size_bytes(), bytes.size());
  EXPECT_TRUE(service.Query(bytes).complete());
  v1::ReadBlobRequest request;
  *request.mutable_digest() = WireDigest(bytes);
  std::string all;
  EXPECT_TRUE(service.Read(request, all).ok());
  EXPECT_EQ(all, bytes);
  request.set_offset(4'999'998);
  request.set_limit(5);
  std::string end;
  EXPECT_TRUE(service.Read(request, end).ok());
  EXPECT_EQ(end, "mn");
}

TEST(Blobs, a_broken_connection_continues_at_the_offset) {
  Service service;
  const std::string bytes = "0123456789";
  {
    Upload broken(service, bytes);
    ASSERT_TRUE(broken.Send(0, bytes.substr(0, 6)));
    while (service.server.probe.uploaded < 6) std::this_thread::yield();
    broken.context.TryCancel();
    EXPECT_EQ(broken.End().error_code(), grpc::StatusCode::CANCELLED);
  }
  while (service.server.blobs->writes.open() > 0) std::this_thread::yield();
  EXPECT_EQ(service.Query(bytes).committed_bytes(), 6u);
  Upload upload(service, bytes);
  ASSERT_TRUE(upload.Send(6, bytes.substr(6)));
  EXPECT_TRUE(upload.End().ok());
  EXPECT_EQ(service.disk.store().Now().resumed, 1u);
}

TEST(Blobs, finds_what_is_missing) {
  Service service;
  ASSERT_TRUE(StoreBytes(service.disk.store(), DigestOf("b"), Blob(std::string("b"))));
  grpc::ClientContext context;
  v1::FindMissingBlobsRequest request;
  for (const char* bytes : {"a", "b", "c"}) *request.add_digests() = WireDigest(bytes);
  v1::FindMissingBlobsResponse response;
  ASSERT_TRUE(service.stub->FindMissingBlobs(&context, request, &response).ok());
  ASSERT_EQ(response.missing_digests_size(), 2);
  EXPECT_EQ(response.missing_digests(0).sha256(), Sha256Of(std::string("a")));
  EXPECT_EQ(response.missing_digests(1).sha256(), Sha256Of(std::string("c")));
}

TEST(Blobs, statuses_have_reasons) {
  Service service;
  std::string bytes;
  v1::ReadBlobRequest request;
  *request.mutable_digest() = WireDigest("absent");
  const grpc::Status absent = service.Read(request, bytes);
  EXPECT_EQ(absent.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ReasonOf(absent), "NOT_FOUND");

  ASSERT_TRUE(StoreBytes(service.disk.store(), DigestOf("whole"), Blob(std::string("whole"))));
  service.disk.Damage(DigestOf("whole"));
  *request.mutable_digest() = WireDigest("whole");
  const grpc::Status damaged = service.Read(request, bytes);
  EXPECT_EQ(damaged.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(ReasonOf(damaged), "CORRUPT");

  Upload wrong(service, "abcd");
  ASSERT_TRUE(wrong.Send(0, "abcx"));
  const grpc::Status mismatch = wrong.End();
  EXPECT_EQ(mismatch.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(mismatch), "DIGEST_MISMATCH");
}

TEST(Blobs, without_a_state_folder_there_are_none) {
  Loopback server;
  const auto stub = v1::Blobs::NewStub(server.channel);
  v1::WriteBlobResponse written;
  grpc::ClientContext write;
  const grpc::Status status = stub->WriteBlob(&write, &written)->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(ReasonOf(status), "UNSUPPORTED");
  grpc::ClientContext query;
  v1::QueryBlobWriteResponse state;
  EXPECT_EQ(stub->QueryBlobWrite(&query, {}, &state).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  grpc::ClientContext read;
  EXPECT_EQ(stub->ReadBlob(&read, {})->Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

// Sends bytes that are not a message.
grpc::Status SendBytes(Service& service, const std::string& method, const std::string& bytes) {
  grpc::GenericStub stub(service.server.channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(bytes);
  const auto call = stub.PrepareUnaryCall(&context, "/octavo.v1.Blobs/" + method,
                                          grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

TEST(Blobs, bounds_messages_before_it_converts_them) {
  Service service;
  std::string empties;
  for (int i = 0; i < 1'000'000; ++i) empties += std::string("\x0a\x00", 2);
  const grpc::Status many = SendBytes(service, "FindMissingBlobs", empties);
  EXPECT_EQ(ReasonOf(many), "INVALID_SPEC");
  EXPECT_NE(many.error_message().find("digests"), std::string::npos) << many.error_message();
  for (const char* method : {"FindMissingBlobs", "QueryBlobWrite"}) {
    EXPECT_EQ(ReasonOf(SendBytes(service, method, "\xff\xff")), "MALFORMED");
  }
}

}  // namespace
}  // namespace octavo::server
