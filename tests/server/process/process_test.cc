// SPDX-License-Identifier: Apache-2.0
// octavod as a process: exit codes, port file, log, and signals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "client/remote.h"
#include "tests/server/daemon/http_get.h"

namespace octavo::server {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Process : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    fs::remove_all(folder_);
  }

  void Start(std::vector<std::string> args, const char* variable = nullptr) {
    args.insert(args.begin(), FAKE_OCTAVOD);
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    std::vector<char*> environment = {const_cast<char*>(variable), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const auto& [fd, name] : {std::pair(1, "out"), std::pair(2, "err")}) {
      posix_spawn_file_actions_addopen(&actions, fd, (folder_ / name).c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0644);
    }
    ASSERT_EQ(posix_spawn(&pid_, FAKE_OCTAVOD, &actions, nullptr, argv.data(), environment.data()),
              0);
    posix_spawn_file_actions_destroy(&actions);
  }
  // Starts the server on free ports and waits until it is ready.
  void Serve(std::vector<std::string> more = {}, const char* variable = nullptr) {
    const std::string port_file = (folder_ / "port").string();
    std::vector<std::string> args = {"--listen",    "127.0.0.1:0", "--metrics",       "127.0.0.1:0",
                                     "--port-file", port_file,     "--shutdown-wait", "0.05"};
    args.insert(args.end(), more.begin(), more.end());
    Start(args, variable);
    for (int tries = 0; tries < 2000 && !fs::exists(port_file); ++tries) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    std::ifstream file(port_file);
    std::getline(file, address_);
    std::getline(file, metrics_);
    ASSERT_FALSE(metrics_.empty()) << Text("err");
  }
  // The exit code, or 128 plus the signal.
  int Wait() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Result<job::Outcome> Run(const std::string& model) {
    job::Request request;
    request.model = {.name = "m.onnx", .bytes = Blob(model)};
    return client::RemoteRun({.address = address_, .attempts = 1}, request, {},
                             [](const job::Progress&) {});
  }
  bool JobRuns() {
    return HttpGet(metrics_, "/metrics").find("\noctavo_jobs_running 1\n") != std::string::npos;
  }

  fs::path folder_;
  pid_t pid_ = -1;
  std::string address_, metrics_;
};

TEST_F(Process, SigtermEndsAnIdleServerWith0AndItsLogIsJson) {
  Serve();
  EXPECT_TRUE(Run("model"));
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 0);
  std::istringstream log(Text("err"));
  std::vector<std::string> events;
  for (std::string line; std::getline(log, line);) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(entry.is_object()) << line;
    events.push_back(entry["event"]);
  }
  EXPECT_EQ(events, (std::vector<std::string>{"serving", "job admitted", "job ended", "draining",
                                              "stopped"}));
}

TEST_F(Process, SigtermGivesARunningJobItsDrainTimeout) {
  Serve({"--drain-timeout", "0.3"}, "OCTAVO_TEST_HOLD=1");
  Result<job::Outcome> outcome;
  std::thread caller([&] { outcome = Run("model"); });
  while (!JobRuns()) std::this_thread::sleep_for(milliseconds(5));
  const auto begin = std::chrono::steady_clock::now();
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(300));
  caller.join();
  EXPECT_FALSE(outcome);
}

TEST_F(Process, ASecondSigtermStopsAtOnce) {
  Serve({"--drain-timeout", "60"}, "OCTAVO_TEST_HOLD=1");
  Result<job::Outcome> outcome;
  std::thread caller([&] { outcome = Run("model"); });
  while (!JobRuns()) std::this_thread::sleep_for(milliseconds(5));
  kill(pid_, SIGTERM);
  // The log says that the first signal was heard.
  while (Text("err").find("\"draining\"") == std::string::npos) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  const auto begin = std::chrono::steady_clock::now();
  kill(pid_, SIGTERM);
  EXPECT_EQ(Wait(), 143);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  caller.join();
  EXPECT_FALSE(outcome);
}

TEST_F(Process, AWrongFlagIsExit2WithOneLine) {
  Start({"--workers", "many"});
  EXPECT_EQ(Wait(), 2);
  EXPECT_EQ(Text("err"), "octavod: error: --workers: 'many' must be a whole number\n");
}

TEST_F(Process, PrintConfigServesNothing) {
  Start({"--print-config", "--listen", "127.0.0.1:7"}, "OCTAVO_WORKERS=3");
  EXPECT_EQ(Wait(), 0);
  EXPECT_NE(Text("out").find("workers              3                        environment"),
            std::string::npos)
      << Text("out");
}

}  // namespace
}  // namespace octavo::server
