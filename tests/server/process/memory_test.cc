// SPDX-License-Identifier: Apache-2.0
// Messages that are small on the wire and large in memory.
#include <grpcpp/create_channel.h>

#include <algorithm>
#include <atomic>

#include "grpc/health/v1/health.grpc.pb.h"
#include "octavo/v1/optimizer.grpc.pb.h"
#include "tests/server/process/process.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
constexpr int64_t kMiB = 1 << 20;

class Bombs : public Process {
 protected:
  std::shared_ptr<grpc::Channel> Channel() {
    return grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  }
  // Sends one message and returns the status of its call.
  static grpc::Status Send(v1::Optimizer::Stub& stub, const v1::OptimizeRequest& request,
                           grpc_compression_algorithm compression = GRPC_COMPRESS_NONE) {
    grpc::ClientContext context;
    context.set_compression_algorithm(compression);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    const auto stream = stub.Optimize(&context);
    stream->Write(request);
    stream->WritesDone();
    v1::OptimizeEvent event;
    while (stream->Read(&event)) {
    }
    return stream->Finish();
  }
  // The peak of the server's memory during `work` above what it had before.
  int64_t Growth(const std::function<void()>& work) const {
    ResetPeak();
    const int64_t before = Memory("VmRSS");
    work();
    return Memory("VmHWM") - before;
  }
};

TEST_F(Bombs, AGzipBombIsUnimplementedAndCostsNoMemory) {
  Serve();
  const auto stub = v1::Optimizer::NewStub(Channel());
  EXPECT_FALSE(Send(*stub, {}).ok());  // opens the connection
  v1::OptimizeRequest bomb;
  bomb.mutable_chunk()->set_data(std::string(64 * kMiB, '\0'));
  grpc::Status status;
  const int64_t growth = Growth([&] { status = Send(*stub, bomb, GRPC_COMPRESS_GZIP); });
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
  EXPECT_LT(growth, 8 * kMiB);
  std::printf("growth %.1f MiB\n", static_cast<double>(growth) / kMiB);
  // Another method, of another service.
  const auto health = grpc::health::v1::Health::NewStub(Channel());
  grpc::health::v1::HealthCheckRequest check;
  check.set_service(std::string(64 * kMiB, '\0'));
  EXPECT_LT(Growth([&] {
              grpc::ClientContext context;
              context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
              grpc::health::v1::HealthCheckResponse answer;
              status = health->Check(&context, check, &answer);
            }),
            8 * kMiB);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
}

TEST_F(Bombs, SpecsOfEmptyStringsCostNoMemoryAndHealthAnswers) {
  Serve();
  v1::OptimizeRequest request;
  for (int i = 0; i < 1'300'000; ++i) request.mutable_spec()->mutable_options()->add_keep_float();
  const auto stub = v1::Optimizer::NewStub(Channel());
  EXPECT_FALSE(Send(*stub, {}).ok());
  std::atomic<bool> done{false};
  std::vector<double> seconds;
  std::thread health([&] {
    while (!done) {
      const auto begin = steady_clock::now();
      EXPECT_TRUE(client::CheckHealth(address_, client::DeadlineIn(10)));
      seconds.push_back(std::chrono::duration<double>(steady_clock::now() - begin).count());
    }
  });
  std::atomic<int> refused{0};
  const int64_t growth = Growth([&] {
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        for (int i = 0; i < 25; ++i) {
          const grpc::Status status = Send(*stub, request);
          refused += status.error_code() == grpc::StatusCode::INVALID_ARGUMENT;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
  });
  done = true;
  health.join();
  EXPECT_EQ(refused, 100);
  EXPECT_LT(growth, 64 * kMiB);
  std::ranges::sort(seconds);
  // 100 ms on a machine without other load.
  EXPECT_LT(seconds[seconds.size() * 99 / 100], 0.5);
  std::printf("growth %.1f MiB, health p99 %.0f ms of %zu\n", static_cast<double>(growth) / kMiB,
              seconds[seconds.size() * 99 / 100] * 1000, seconds.size());
}

}  // namespace
}  // namespace octavo::server
