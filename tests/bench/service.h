// SPDX-License-Identifier: Apache-2.0
// octavod as a process, for benchmarks.
#pragma once

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace octavo {

// octavod while the object exists, with a state folder in `folder`.
class Service {
 public:
  Service(const std::string& program, const std::filesystem::path& folder,
          const std::vector<std::string>& options = {})
      : folder_(folder / "octavod") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "state");
    const std::string port_file = folder_ / "port";
    std::vector<std::string> words = {
        program,   "--listen",    "127.0.0.1:0",     "--metrics",   "127.0.0.1:0", "--port-file",
        port_file, "--state-dir", folder_ / "state", "--log-level", "warning"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawn(&pid_, program.c_str(), nullptr, nullptr, argv.data(), environ) != 0) return;
    for (int tries = 0; tries < 1000 && address_.empty(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::ifstream file(port_file);
      std::getline(file, address_);
    }
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service() {
    if (pid_ > 0) kill(pid_, SIGTERM);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }

  const std::string& address() const { return address_; }
  void ResetPeak() const { std::ofstream(fmt::format("/proc/{}/clear_refs", pid_)) << '5'; }
  // The largest resident memory since ResetPeak, in MiB.
  double Peak() const {
    std::ifstream file(fmt::format("/proc/{}/status", pid_));
    double kibibytes = 0;
    for (std::string word; file >> word;) {
      if (word == "VmHWM:") file >> kibibytes;
    }
    return kibibytes / 1024;
  }

 private:
  const std::filesystem::path folder_;
  pid_t pid_ = -1;
  std::string address_;
};

}  // namespace octavo
