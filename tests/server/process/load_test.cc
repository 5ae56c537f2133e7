// SPDX-License-Identifier: Apache-2.0
// The service with more clients than it can serve, and with clients while it restarts.
#include <atomic>
#include <filesystem>
#include <random>

#include "tests/server/process/process.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Load : public Process {
 protected:
  struct Answer {
    bool done = false;
    int retries = 0;
    std::string message = {};
  };
  // One job of a client that tries again for 20 s.
  Answer Try(const std::string& model) const {
    job::Request request;
    request.model = {.name = "m.onnx", .bytes = Blob(model)};
    Answer answer;
    const auto outcome =
        client::RemoteRun({.address = address_, .retry = {.retry_for = seconds(20)}}, request, {},
                          [&](const job::Progress& progress) {
                            if (progress.stage == "retry") ++answer.retries;
                          });
    answer.done = outcome.has_value();
    if (!outcome) answer.message = outcome.error().message;
    return answer;
  }
};

TEST_F(Load, NinetyOfAHundredClientsThatAreRefusedGetInAtTheirNextTry) {
  Serve({"--workers", "2"}, "OCTAVO_TEST_SLEEP=20");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Run("first " + std::to_string(i)));
  std::atomic<int> refused{0};
  std::atomic<int> refused_again{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 130; ++i) {
    clients.emplace_back([&, i] {
      const Answer answer = Try("model " + std::to_string(i));
      EXPECT_TRUE(answer.done) << answer.message;
      if (answer.retries > 0) ++refused;
      if (answer.retries > 1) ++refused_again;
    });
  }
  for (std::thread& client : clients) client.join();
  std::printf("%d of 130 clients refused, %d of them again\n", refused.load(),
              refused_again.load());
  EXPECT_GT(refused, 50);
  EXPECT_LE(refused_again * 10, refused);
}

TEST_F(Load, ClientsSucceedWhileTheServiceRestarts) {
  Serve({"--workers", "2"}, "OCTAVO_TEST_SLEEP=30");
  std::atomic<bool> stop{false};
  std::atomic<int> done{0};
  std::atomic<int> retried{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      for (int job = 0; !stop; ++job) {
        // Now and then an upload of several chunks.
        const std::string model =
            fmt::format("model {} {} ", i, job) + std::string(job % 5 == 0 ? 3'000'000 : 10, 'x');
        const Answer answer = Try(model);
        EXPECT_TRUE(answer.done) << answer.message;
        ++done;
        if (answer.retries > 0) ++retried;
      }
    });
  }
  std::minstd_rand random(5);
  for (int round = 0; round < 6; ++round) {
    std::this_thread::sleep_for(milliseconds(std::uniform_int_distribution<int>(100, 700)(random)));
    kill(pid_, SIGTERM);
    EXPECT_EQ(Wait(), 0);
    const std::string port_file = (folder_ / "port").string();
    std::filesystem::remove(port_file);
    Start({"--listen", address_, "--metrics", metrics_, "--port-file", port_file, "--shutdown-wait",
           "0.05", "--workers", "2"},
          "OCTAVO_TEST_SLEEP=30");
    AwaitPorts();  // a signal before it is ready kills it
  }
  std::this_thread::sleep_for(milliseconds(500));
  stop = true;
  for (std::thread& client : clients) client.join();
  std::printf("%d jobs, %d tried again\n", done.load(), retried.load());
  EXPECT_GT(retried, 0);
}

}  // namespace
}  // namespace octavo::server
