// SPDX-License-Identifier: Apache-2.0
// The client library against a real server on loopback, with a fake job behind it.
#include "client/remote.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/server/service/loopback.h"

namespace octavo::client {
namespace {

using server::FakeRunner;
using server::Loopback;
using std::chrono::milliseconds;

const job::Observer kSilent = [](const job::Progress&) {};

job::Request RequestFor(std::string model) {
  job::Request request;
  request.model = {.name = "m.onnx", .bytes = Blob(std::move(model))};
  return request;
}

Result<job::Outcome> RunOn(const Loopback& server, const job::Request& request,
                           const StopToken& stop = {}) {
  return RemoteRun({.address = server.grpc->address(), .attempts = 1}, request, stop, kSilent);
}

TEST(Remote, GivesTheSameBytesAsTheJobItself) {
  Loopback server;
  job::Request request = RequestFor(std::string(3'500'000, 'a') + std::string(1'000'000, 'b'));
  request.external_data = {{.name = "weights/w.bin", .bytes = Blob(std::string(2'000'000, 'w'))}};
  request.samples = {{.name = "0/input_0.pb", .bytes = Blob(std::string("s"))},
                     {.name = "1/input_0.pb", .bytes = Blob(std::string(""))}};
  request.options.snapshots = true;
  request.options.target = "tflite";
  const auto remote = RunOn(server, request);
  ASSERT_TRUE(remote) << remote.error().message;
  const job::Outcome local = FakeRunner::OutcomeOf(request);
  EXPECT_EQ(remote->model.name, local.model.name);
  EXPECT_TRUE(remote->model.bytes.text() == local.model.bytes.text());
  EXPECT_EQ(remote->report_json, local.report_json);
  ASSERT_EQ(remote->external.size(), 1u);
  EXPECT_EQ(remote->external[0].name, "weights/w.bin");
  EXPECT_TRUE(remote->external[0].bytes.text() == local.external[0].bytes.text());
  ASSERT_EQ(remote->snapshots.size(), 1u);
  EXPECT_EQ(remote->snapshots[0].name, "00-import.graph");
  EXPECT_FALSE(remote->gate_failed);
}

TEST(Remote, AFailedGateComesWithItsMessage) {
  Loopback server;
  job::Request request = RequestFor("model");
  request.options.require_sqnr = 101;
  const auto outcome = RunOn(server, request);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->gate_failed);
  EXPECT_EQ(outcome->message, "sqnr 40.0 dB is below 101 dB");
}

TEST(Remote, AnErrorKeepsItsCodeReasonAndNode) {
  Loopback server;
  const auto outcome = RunOn(server, RequestFor("broken"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error(), (Error{.code = Code::kInvalidArgument,
                                    .message = "Conv 'c1': the weight has no elements",
                                    .reason = "INVALID_MODEL",
                                    .node = "c1"}));
}

TEST(Remote, AModelThatCanNeverFitIsTooLarge) {
  Loopback server({.model_bytes = 3});
  const auto outcome = RunOn(server, RequestFor("four"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kTooLarge);
  EXPECT_EQ(outcome.error().reason, "TOO_LARGE");
  EXPECT_EQ(outcome.error().field, "spec.blobs");
}

TEST(Remote, ProgressCoversUploadJobAndDownload) {
  Loopback server;
  server.runner.Hold();
  std::set<std::string> stages;
  const auto outcome = RemoteRun({.address = server.grpc->address()}, RequestFor("model"), {},
                                 [&](const job::Progress& progress) {
                                   stages.insert(std::string(progress.stage));
                                   if (progress.stage == "import") server.runner.Open();
                                 });
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(stages.contains("import"));
  EXPECT_TRUE(stages.contains("upload"));
  EXPECT_TRUE(stages.contains("passes"));
  EXPECT_TRUE(stages.contains("download"));
}

TEST(Remote, StoppingTheClientStopsTheJob) {
  Loopback server;
  server.runner.Hold();
  const StopToken stop;
  std::thread stopper([&] {
    server.runner.WaitForStarts(1);
    stop.RequestStop();
  });
  const auto outcome = RunOn(server, RequestFor("model"), stop);
  stopper.join();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kCancelled);
  while (server.scheduler.Now().running > 0) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Remote, TheClientsDeadlineIsKept) {
  Loopback server;
  server.runner.Hold();
  const auto outcome = RemoteRun({.address = server.grpc->address(),
                                  .deadline = std::chrono::system_clock::now() + milliseconds(200)},
                                 RequestFor("model"), {}, kSilent);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kDeadlineExceeded);
}

TEST(Remote, AnOverloadedServiceIsAskedAgainUntilItHasRoom) {
  Loopback server({.jobs_queued = 0, .workers = 1});
  server.runner.Hold();
  std::thread first([&] { EXPECT_TRUE(RunOn(server, RequestFor("first"))); });
  ASSERT_TRUE(server.runner.WaitForStarts(1));
  const auto refused = RunOn(server, RequestFor("second"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_EQ(refused.error().reason, "OVERLOADED");
  const int rejections = server.probe.rejections(server::RejectReason::kQueueFull);
  std::thread opener([&] {
    EXPECT_TRUE(server.probe.WaitForRejections(server::RejectReason::kQueueFull, rejections + 1));
    server.runner.Open();
  });
  const auto served = RemoteRun({.address = server.grpc->address(), .attempts = 20},
                                RequestFor("second"), {}, kSilent);
  EXPECT_TRUE(served) << served.error().message;
  first.join();
  opener.join();
}

TEST(Remote, AnAddressWithoutAServiceIsUnavailableAndNamed) {
  const auto outcome =
      RemoteRun({.address = "127.0.0.1:1", .attempts = 2, .initial_backoff = milliseconds(1)},
                RequestFor("model"), {}, kSilent);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kUnavailable);
  EXPECT_NE(outcome.error().message.find("127.0.0.1:1"), std::string::npos);
}

TEST(Remote, HealthTellsServingFromNotServing) {
  Loopback server;
  EXPECT_TRUE(CheckHealth(server.grpc->address(), std::chrono::seconds(5)));
  server.grpc->SetServing(false);
  const auto status = CheckHealth(server.grpc->address(), std::chrono::seconds(5));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().reason, "NOT_SERVING");
}

}  // namespace
}  // namespace octavo::client
