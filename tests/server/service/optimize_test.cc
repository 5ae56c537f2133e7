// SPDX-License-Identifier: Apache-2.0
// Optimizer.Optimize as an independent client sees it: statuses with details, and violations of the
// protocol.
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/base/sha256.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "octavo/v1/optimizer.grpc.pb.h"
#include "tests/server/service/loopback.h"

namespace octavo::server {
namespace {

// A call that a test controls message by message.
struct Call {
  explicit Call(Loopback& server)
      : stub(v1::Optimizer::NewStub(server.channel)), stream(stub->Optimize(&context)) {}

  bool SendSpec(const std::string& model) {
    v1::OptimizeRequest request;
    v1::BlobInfo& blob = *request.mutable_spec()->add_blobs();
    blob.set_role(v1::BlobInfo::ROLE_MODEL);
    blob.set_size_bytes(model.size());
    blob.set_sha256(Sha256Of(model));
    return stream->Write(request);
  }
  bool SendChunk(uint64_t offset, const std::string& bytes) {
    v1::OptimizeRequest request;
    request.mutable_chunk()->set_offset(offset);
    request.mutable_chunk()->set_data(bytes);
    return stream->Write(request);
  }
  // Reads all events and returns the status.
  grpc::Status End() {
    v1::OptimizeEvent event;
    while (stream->Read(&event)) events.push_back(event);
    return stream->Finish();
  }

  grpc::ClientContext context;
  std::unique_ptr<v1::Optimizer::Stub> stub;
  std::unique_ptr<grpc::ClientReaderWriter<v1::OptimizeRequest, v1::OptimizeEvent>> stream;
  std::vector<v1::OptimizeEvent> events;
};

template <class T>
std::optional<T> Detail(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return std::nullopt;
  for (const auto& any : details.details()) {
    T detail;
    if (any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}

TEST(Optimize, AChunkOfAnotherSizeThanOneMebibyteIsFine) {
  Loopback server;
  const std::string model(5'000'000, 'm');
  Call call(server);
  ASSERT_TRUE(call.SendSpec(model));
  for (size_t offset = 0; offset < model.size(); offset += 3'000'000) {
    ASSERT_TRUE(call.SendChunk(offset, model.substr(offset, 3'000'000)));
  }
  const grpc::Status status = call.End();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(call.events.front().has_accepted());
  EXPECT_TRUE(call.events.back().has_finished());
}

TEST(Optimize, AWrongDigestOfNoBytesEndsTheCallAndNotTheService) {
  Loopback server;
  v1::OptimizeRequest request;
  v1::BlobInfo& blob = *request.mutable_spec()->add_blobs();
  blob.set_role(v1::BlobInfo::ROLE_MODEL);
  blob.set_sha256(Sha256Of("model"));
  for (int i = 0; i < 2; ++i) {
    Call call(server);
    ASSERT_TRUE(call.stream->Write(request));
    EXPECT_EQ(call.End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST(Optimize, AnInvalidSpecCarriesErrorInfoAndTheFieldViolation) {
  Loopback server;
  Call call(server);
  v1::OptimizeRequest request;
  request.mutable_spec()->mutable_options()->set_per_channel(true);
  request.mutable_spec()->mutable_options()->set_per_tensor(true);
  ASSERT_TRUE(call.stream->Write(request));
  const grpc::Status status = call.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const auto info = Detail<google::rpc::ErrorInfo>(status);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->reason(), "INVALID_SPEC");
  EXPECT_EQ(info->domain(), "octavo");
  EXPECT_EQ(info->metadata().at("field"), "spec.options.per_tensor");
  const auto bad_request = Detail<google::rpc::BadRequest>(status);
  ASSERT_TRUE(bad_request);
  EXPECT_EQ(bad_request->field_violations(0).field(), "spec.options.per_tensor");
}

TEST(Optimize, OptionsAreCheckedBeforeTheUpload) {
  Loopback server;
  const auto refused = [&](const std::function<void(v1::Options&)>& set, const std::string& field) {
    Call call(server);
    v1::OptimizeRequest request;
    v1::BlobInfo& blob = *request.mutable_spec()->add_blobs();
    blob.set_role(v1::BlobInfo::ROLE_MODEL);
    blob.set_size_bytes(5);
    blob.set_sha256(std::string(64, '0'));
    set(*request.mutable_spec()->mutable_options());
    ASSERT_TRUE(call.stream->Write(request));
    const grpc::Status status = call.End();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << field;
    EXPECT_TRUE(call.events.empty()) << field;
    const auto info = Detail<google::rpc::ErrorInfo>(status);
    ASSERT_TRUE(info) << field;
    EXPECT_EQ(info->metadata().at("field"), field);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused([](v1::Options& options) { options.set_threads(-5); }, "spec.options.threads");
  refused([&](v1::Options& options) { options.set_require_sqnr(nan); },
          "spec.options.require_sqnr");
  refused([&](v1::Options& options) { options.set_require_cosine(nan); },
          "spec.options.require_cosine");
  refused([](v1::Options& options) { options.set_opset(-1); }, "spec.options.opset");
  refused([](v1::Options& options) { options.set_batch(-2); }, "spec.options.batch");
  refused([](v1::Options& options) { options.set_stop_before("frob"); },
          "spec.options.stop_before");
}

TEST(Optimize, AnEmptyRequestAndAnUnknownRoleAreRefused) {
  Loopback server;
  Call empty(server);
  ASSERT_TRUE(empty.stream->Write({}));
  EXPECT_EQ(empty.End().error_message(), "a request has neither a spec nor a chunk");
  Call role(server);
  v1::OptimizeRequest request;
  request.mutable_spec()->add_blobs();
  ASSERT_TRUE(role.stream->Write(request));
  EXPECT_EQ(role.End().error_message(), "spec.blobs[0].role: 0 is not a role");
}

TEST(Optimize, GarbageIsMalformedWithItsNumberInTheStream) {
  Loopback server;
  grpc::GenericStub stub(server.channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const auto call = stub.PrepareCall(&context, "/octavo.v1.Optimizer/Optimize", &queue);
  const auto wait = [&] {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
  };
  call->StartCall(nullptr);
  wait();
  grpc::Slice slice(std::string(100, '\xff'));
  call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  wait();
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "message 1 of the call is not a valid octavo.v1.OptimizeRequest");
  EXPECT_EQ(Detail<google::rpc::ErrorInfo>(status)->reason(), "MALFORMED");
}

TEST(Optimize, ADeadlineOfCenturiesIsNone) {
  Loopback server;
  const auto stub = v1::Optimizer::NewStub(server.channel);
  for (const int64_t years : {2, 292, 5000}) {
    grpc::ClientContext context;
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME),
                                      gpr_time_from_seconds(years * 31'556'952, GPR_TIMESPAN)));
    const auto call = stub->Optimize(&context);
    v1::OptimizeRequest request;
    v1::BlobInfo& blob = *request.mutable_spec()->add_blobs();
    blob.set_role(v1::BlobInfo::ROLE_MODEL);
    blob.set_size_bytes(5);
    blob.set_sha256(Sha256Of("model"));
    EXPECT_TRUE(call->Write(request));
    request.mutable_chunk()->set_data("model");
    EXPECT_TRUE(call->Write(request));
    v1::OptimizeEvent event;
    while (call->Read(&event)) {
    }
    EXPECT_TRUE(call->Finish().ok()) << years << " years";
  }
}

TEST(Optimize, AFullQueueCarriesRetryInfo) {
  Loopback server({.jobs_queued = 0, .workers = 1});
  server.runner.Hold();
  Call first(server);
  ASSERT_TRUE(first.SendSpec("model") && first.SendChunk(0, "model"));
  ASSERT_TRUE(server.runner.WaitForStarts(1));
  Call second(server);
  ASSERT_TRUE(second.SendSpec("other model"));  // an equal job would join the first
  const grpc::Status status = second.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto retry = Detail<google::rpc::RetryInfo>(status);
  ASSERT_TRUE(retry);
  EXPECT_GT(retry->retry_delay().seconds() * 1'000'000'000 + retry->retry_delay().nanos(), 0);
  server.runner.Open();
  EXPECT_TRUE(first.End().ok());
}

TEST(Optimize, AModelThatCanNeverFitIsAFailedPrecondition) {
  Loopback server({.model_bytes = 4});
  Call call(server);
  ASSERT_TRUE(call.SendSpec("model"));
  const grpc::Status status = call.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(Detail<google::rpc::ErrorInfo>(status)->reason(), "TOO_LARGE");
  EXPECT_FALSE(Detail<google::rpc::RetryInfo>(status));
}

TEST(Optimize, HangingUpHalfWayGivesThePlaceBack) {
  Loopback server({.uploads = 1});
  {
    Call call(server);
    ASSERT_TRUE(call.SendSpec("model"));
    v1::OptimizeEvent accepted;
    ASSERT_TRUE(call.stream->Read(&accepted));
    ASSERT_TRUE(call.SendChunk(0, "mod"));
    call.context.TryCancel();
    EXPECT_EQ(call.End().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(server.probe.WaitForOutcomes(JobOutcome::kCancelled, 1));
  Call next(server);
  ASSERT_TRUE(next.SendSpec("model") && next.SendChunk(0, "model"));
  EXPECT_TRUE(next.End().ok());
}

TEST(Optimize, AMessageBeyondTheLimitEndsTheCallAndNotTheServer) {
  Loopback server;
  const std::string model(6u << 20, 'm');
  Call call(server);
  ASSERT_TRUE(call.SendSpec(model));
  call.SendChunk(0, model);
  EXPECT_FALSE(call.End().ok());
  Call next(server);
  ASSERT_TRUE(next.SendSpec("model") && next.SendChunk(0, "model"));
  EXPECT_TRUE(next.End().ok());
}

TEST(Optimize, ManyCallsAtOnceAllEndWithTheirOwnBytes) {
  Loopback server({.jobs_queued = 64, .workers = 2});
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int i = 0; i < 24; ++i) {
    callers.emplace_back([&, i] {
      const std::string model = std::string(100'000, 'x') + std::to_string(i);
      Call call(server);
      if (!call.SendSpec(model) || !call.SendChunk(0, model) || !call.End().ok()) return;
      for (const auto& event : call.events) {
        if (event.has_chunk() && event.chunk().blob() == 0 &&
            event.chunk().data() == std::string(model.rbegin(), model.rend())) {
          ++right;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 24);
}

}  // namespace
}  // namespace octavo::server
