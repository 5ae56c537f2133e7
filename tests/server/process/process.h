// SPDX-License-Identifier: Apache-2.0
// octavod with a fake job, as a process of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "client/remote.h"
#include "tests/server/daemon/http_get.h"
#include "tests/support/temporary_folder.h"

namespace octavo::server {

class Process : public testing::Test {
 protected:
  void TearDown() override {
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }

  // The log goes to the file "err", unless a test gives a descriptor for it.
  int log_ = -1;
  // A command of the shell that runs before octavod, in its process.
  std::string before_ = {};

  void Start(std::vector<std::string> args, const char* variable = nullptr) {
    const std::string program = FAKE_OCTAVOD;
    args.insert(args.begin(), program);
    if (!before_.empty()) {
      args.insert(args.begin(), {"/bin/sh", "-c", before_ + "; exec \"$0\" \"$@\""});
    }
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
    if (log_ >= 0) posix_spawn_file_actions_adddup2(&actions, log_, 2);
    ASSERT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environment.data()), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  // Starts the server on free ports and waits until it is ready.
  void Serve(std::vector<std::string> more = {}, const char* variable = nullptr) {
    const std::string port_file = (folder_ / "port").string();
    std::vector<std::string> args = {"--listen",    "127.0.0.1:0", "--metrics",       "127.0.0.1:0",
                                     "--port-file", port_file,     "--shutdown-wait", "0.05"};
    args.insert(args.end(), more.begin(), more.end());
    Start(args, variable);
    AwaitPorts();
  }
  // Waits until the started server is ready and has written its port file, and reads that.
  void AwaitPorts() {
    const std::string port_file = (folder_ / "port").string();
    for (int tries = 0; tries < 2000 && !std::filesystem::exists(port_file); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
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
    return client::RemoteRun(
        {.address = address_, .retry = {.retry_for = std::chrono::milliseconds(0)}}, request, {},
        [](const job::Progress&) {});
  }
  // A line of /proc/PID/status in bytes: "VmRSS", or "VmHWM", its maximum since ResetPeak.
  int64_t Memory(const std::string& name) const {
    std::ifstream file(std::filesystem::path("/proc") / std::to_string(pid_) / "status");
    int64_t kibibytes = 0;
    for (std::string word; file >> word;) {
      if (word == name + ':') file >> kibibytes;
    }
    return kibibytes << 10;
  }
  void ResetPeak() const {
    std::ofstream(std::filesystem::path("/proc") / std::to_string(pid_) / "clear_refs") << '5';
  }
  bool JobRuns() {
    return HttpGet(metrics_, "/metrics").find("\noctavo_jobs_running 1\n") != std::string::npos;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
  pid_t pid_ = -1;
  std::string address_, metrics_;
};

}  // namespace octavo::server
