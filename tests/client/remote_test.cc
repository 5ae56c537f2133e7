// SPDX-License-Identifier: Apache-2.0
// The client library against a real server on loopback, with a fake job behind it.
#include "client/remote.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "tests/server/service/loopback.h"

namespace octavo::client {
namespace {

using server::FakeRunner;
using server::Loopback;
using std::chrono::milliseconds;

constexpr RetryPolicy kOneTry{.retry_for = milliseconds(0)};
const job::Observer kSilent = [](const job::Progress&) {};

job::Request RequestFor(std::string model) {
  job::Request request;
  request.model = {.name = "m.onnx", .bytes = Blob(std::move(model))};
  return request;
}

Result<job::Outcome> RunOn(const Loopback& server, const job::Request& request,
                           const StopToken& stop = {}) {
  return RemoteRun({.address = server.grpc->address(), .retry = kOneTry}, request, stop, kSilent);
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
  EXPECT_EQ(outcome.error().reason, "CLIENT_DEADLINE");
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
  const auto served = RemoteRun({.address = server.grpc->address(), .retry = {}},
                                RequestFor("second"), {}, kSilent);
  EXPECT_TRUE(served) << served.error().message;
  first.join();
  opener.join();
}

TEST(Remote, AnAddressWithoutAServiceIsUnavailableAndNamed) {
  const auto outcome =
      RemoteRun({.address = "127.0.0.1:1",
                 .retry = {.retry_for = milliseconds(50), .initial_backoff = milliseconds(1)}},
                RequestFor("model"), {}, kSilent);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kUnavailable);
  EXPECT_NE(outcome.error().message.find("127.0.0.1:1"), std::string::npos);
}

TEST(Remote, AMessageOverTheLimitIsNotTriedAgain) {
  Loopback server({.message_bytes = 1 << 20});
  const auto outcome =
      RemoteRun({.address = server.grpc->address(), .retry = {.initial_backoff = milliseconds(1)}},
                RequestFor(std::string(2 << 20, 'm')), {}, kSilent);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kResourceExhausted);
  EXPECT_EQ(server.rpc_probe.started, 1);
}

TEST(Remote, ARefusalSaysWhenToTryAgain) {
  Loopback server({.jobs_queued = 0, .workers = 1});
  server.runner.Hold();
  std::thread first([&] { EXPECT_TRUE(RunOn(server, RequestFor("first"))); });
  ASSERT_TRUE(server.runner.WaitForStarts(1));
  const auto refused = RunOn(server, RequestFor("second"));
  server.runner.Open();
  first.join();
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.ends_with("; retry in 1 s")) << refused.error().message;
}

TEST(Remote, AClientThatReadsTooSlowlyIsUnavailableAndNotCancelled) {
  Loopback server({.upload_idle_timeout = milliseconds(150), .upload_min_rate = 0});
  const auto outcome =
      RemoteRun({.address = server.grpc->address(), .retry = kOneTry},
                RequestFor(std::string(64 << 20, 'm')), {}, [](const job::Progress& progress) {
                  if (progress.stage != "download") return;
                  std::this_thread::sleep_for(milliseconds(1500));
                });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kUnavailable) << outcome.error().message;
}

TEST(Remote, TheServicesTimeoutIsNamed) {
  Loopback server({.job_timeout = milliseconds(50)});
  server.runner.Hold();
  const auto outcome = RunOn(server, RequestFor("model"));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(outcome.error().reason, "JOB_TIMEOUT");
  EXPECT_NE(outcome.error().message.find("--job-timeout"), std::string::npos);
}

TEST(Remote, ADeadlineInCenturiesIsNone) {
  EXPECT_FALSE(DeadlineIn(1e12));
  Loopback server;
  const auto outcome =
      RemoteRun({.address = server.grpc->address(),
                 .retry = kOneTry,
                 .deadline = std::chrono::system_clock::now() + std::chrono::hours(24 * 365 * 200)},
                RequestFor("model"), {}, kSilent);
  EXPECT_TRUE(outcome) << outcome.error().message;
}

sockaddr_in Loop(int port) {
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

// A socket that listens on a port of its own, and its address.
std::pair<int, std::string> Listener() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = Loop(0);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  EXPECT_EQ(listen(fd, 16), 0);
  socklen_t size = sizeof at;
  getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  return {fd, "127.0.0.1:" + std::to_string(ntohs(at.sin_port))};
}

// Listens, and gives each connection to the server half a second after it came.
class SlowWay {
 public:
  explicit SlowWay(const std::string& to) : to_(to) {
    std::tie(listener_, address_) = Listener();
    thread_ = std::thread([this] { Run(); });
  }
  ~SlowWay() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    for (std::thread& pump : pumps_) pump.join();
    for (const int fd : opened_) close(fd);
  }
  const std::string& address() const { return address_; }

 private:
  void Run() {
    for (;;) {
      const int near = accept(listener_, nullptr, nullptr);
      if (near < 0) return;
      std::this_thread::sleep_for(milliseconds(500));
      const int far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in at = Loop(std::stoi(to_.substr(to_.rfind(':') + 1)));
      EXPECT_EQ(connect(far, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
      opened_.insert(opened_.end(), {near, far});
      pumps_.emplace_back(&Pump, near, far);
      pumps_.emplace_back(&Pump, far, near);
    }
  }
  static void Pump(int from, int to) {
    char bytes[4096];
    for (ssize_t got = 0; (got = recv(from, bytes, sizeof bytes, 0)) > 0;) {
      if (send(to, bytes, static_cast<size_t>(got), MSG_NOSIGNAL) < 0) break;
    }
    shutdown(from, SHUT_RDWR);
    shutdown(to, SHUT_RDWR);
  }

  const std::string to_;
  int listener_ = -1;
  std::string address_;
  std::thread thread_;
  std::vector<std::thread> pumps_;
  std::vector<int> opened_;
};

TEST(Remote, AConnectionMayTakeLonger) {
  Loopback server;
  const SlowWay way(server.grpc->address());
  const auto health = CheckHealth(way.address(), DeadlineIn(10));
  EXPECT_TRUE(health) << health.error().message;
  const auto outcome =
      RemoteRun({.address = way.address(), .retry = kOneTry}, RequestFor("model"), {}, kSilent);
  EXPECT_TRUE(outcome) << outcome.error().message;
}

TEST(Remote, HealthWaitsForItsTimeoutAndNoLonger) {
  const auto [listener, address] = Listener();  // that never answers
  const auto begin = std::chrono::steady_clock::now();
  const auto status = CheckHealth(address, DeadlineIn(0.4));
  const auto took = std::chrono::steady_clock::now() - begin;
  close(listener);
  EXPECT_FALSE(status);
  EXPECT_GE(took, milliseconds(400));
  EXPECT_LT(took, milliseconds(5000));
}

TEST(Remote, HealthTellsServingFromNotServing) {
  Loopback server;
  EXPECT_TRUE(CheckHealth(server.grpc->address(), DeadlineIn(5)));
  server.grpc->SetServing(false);
  const auto status = CheckHealth(server.grpc->address(), DeadlineIn(5));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().reason, "NOT_SERVING");
}

}  // namespace
}  // namespace octavo::client
