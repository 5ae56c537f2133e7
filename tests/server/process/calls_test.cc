// SPDX-License-Identifier: Apache-2.0
// Calls that are no jobs, and readers of the log, cannot stop the service or its end.
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include "grpc/health/v1/health.grpc.pb.h"
#include "octavo/v1/optimizer.grpc.pb.h"
#include "tests/server/process/process.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Calls : public Process {
 protected:
  std::shared_ptr<grpc::Channel> Channel() {
    return grpc::CreateChannel(address_, grpc::InsecureChannelCredentials());
  }
  int64_t Threads() const { return Memory("Threads") >> 10; }
};

TEST_F(Calls, ReflectionStreamsDoNotMakeThreadsWithoutBound) {
  Serve();
  const int64_t before = Threads();
  grpc::CompletionQueue queue;
  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
  };
  std::vector<std::unique_ptr<Stream>> streams;
  for (int connection = 0; connection < 4; ++connection) {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel =
        grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), own);
    grpc::GenericStub stub(channel);
    for (int i = 0; i < 90; ++i) {
      auto stream = std::make_unique<Stream>();
      stream->call = stub.PrepareCall(
          &stream->context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
          &queue);
      stream->call->StartCall(nullptr);
      streams.push_back(std::move(stream));
    }
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
  }
  std::this_thread::sleep_for(milliseconds(300));
  const int64_t more = Threads() - before;
  std::printf("%zu streams, %ld more threads\n", streams.size(), static_cast<long>(more));
  EXPECT_LT(more, 64);
  EXPECT_TRUE(Run("model"));
  for (const auto& stream : streams) stream->context.TryCancel();
}

TEST_F(Calls, AnOpenHealthWatchDoesNotHoldTheEndUp) {
  Serve({"--drain-timeout", "30"});
  const auto stub = grpc::health::v1::Health::NewStub(Channel());
  grpc::ClientContext context;
  const auto watch = stub->Watch(&context, {});
  grpc::health::v1::HealthCheckResponse answer;
  ASSERT_TRUE(watch->Read(&answer));
  const auto begin = steady_clock::now();
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 0);
  const auto took = steady_clock::now() - begin;
  std::printf("ended in %ld ms\n",
              static_cast<long>(std::chrono::duration_cast<milliseconds>(took).count()));
  EXPECT_LT(took, milliseconds(3000));  // 1 s on a machine without other load
}

TEST_F(Calls, TheEndFollowsTheLastJobThoughAHealthWatchIsOpen) {
  Serve({"--drain-timeout", "30"}, "OCTAVO_TEST_SLEEP=1000");
  const auto stub = grpc::health::v1::Health::NewStub(Channel());
  grpc::ClientContext context;
  const auto watch = stub->Watch(&context, {});
  grpc::health::v1::HealthCheckResponse answer;
  ASSERT_TRUE(watch->Read(&answer));
  steady_clock::time_point done;
  std::thread caller([&] {
    EXPECT_TRUE(Run("model"));
    done = steady_clock::now();
  });
  while (!JobRuns()) std::this_thread::sleep_for(milliseconds(5));
  kill(pid_, SIGTERM);
  caller.join();
  EXPECT_EQ(Wait(), 0);
  const auto took = steady_clock::now() - done;
  std::printf("ended %ld ms after the last job\n",
              static_cast<long>(std::chrono::duration_cast<milliseconds>(took).count()));
  EXPECT_LT(took, milliseconds(3000));  // 1 s on a machine without other load
}

TEST_F(Calls, AnIdleUploadIsToldThatTheServiceDrains) {
  Serve({"--drain-timeout", "30"});
  const auto stub = v1::Optimizer::NewStub(Channel());
  grpc::ClientContext context;
  const auto call = stub->Optimize(&context);
  v1::OptimizeRequest request;
  v1::BlobInfo& blob = *request.mutable_spec()->add_blobs();
  blob.set_role(v1::BlobInfo::ROLE_MODEL);
  blob.set_size_bytes(5);
  blob.set_sha256(std::string(64, '0'));
  ASSERT_TRUE(call->Write(request));
  v1::OptimizeEvent event;
  ASSERT_TRUE(call->Read(&event));
  kill(pid_, SIGTERM);
  EXPECT_FALSE(call->Read(&event));
  EXPECT_EQ(call->Finish().error_message(), "the service is shutting down");
  EXPECT_EQ(Wait(), 0);
}

TEST_F(Calls, AReaderOfTheLogThatHangsStopsNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  log_ = ends[1];
  // A full pipe.
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (write(ends[1], "x", 1) == 1) {
  }
  fcntl(ends[1], F_SETFL, 0);
  Serve();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Run("model"));
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 0);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Calls, AReaderOfTheLogThatDiesStopsNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  log_ = ends[1];
  Serve();
  close(ends[0]);
  close(ends[1]);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Run("model"));
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 0);
}

}  // namespace
}  // namespace octavo::server
