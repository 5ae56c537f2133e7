// SPDX-License-Identifier: Apache-2.0
// kill -9 of workers at random moments: each job ends at once, with words, and nothing is left.
// OCTAVO_KILLS sets how often (default 50), OCTAVO_SEED the moments.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <thread>

#include "server/worker/runner.h"
#include "server/worker/worker.h"
#include "tests/server/worker_process/counting_probe.h"

namespace octavo::server::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// The processes that this one has started, read from /proc.
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (pid_t pid = 0; file >> pid;) children.push_back(pid);
  }
  return children;
}

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  file >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

class KilledWorkers : public testing::Test {
 protected:
  void SetUp() override {
    auto runner = Runner::Start({.program = HOSTILE_WORKER, .build = "hostile"}, probe_);
    ASSERT_TRUE(runner) << runner.error().message;
    runner_ = *std::move(runner);
  }

  // Starts a job of 40 ms, kills all workers `pause` later, and waits for the job.  The pause of
  // every other job starts when its worker computes: a busy machine takes long to come to that.
  void KillOnce(int number, milliseconds pause) {
    std::promise<void> began;
    auto result = std::async(std::launch::async, [&, number] {
      job::Request request{.model = {.name = std::to_string(number), .bytes = Blob("work")}};
      bool first = true;
      auto outcome = runner_->Run(request, {}, [&](const job::Progress&) {
        if (std::exchange(first, false)) began.set_value();
      });
      const auto end = Clock::now();
      if (first) began.set_value();
      return std::pair(std::move(outcome), end);
    });
    if (number % 2 == 0) {
      ASSERT_EQ(began.get_future().wait_for(seconds(20)), std::future_status::ready);
    }
    std::this_thread::sleep_for(pause);
    const auto killed = Clock::now();
    for (const pid_t pid : Children()) kill(pid, SIGKILL);
    ASSERT_EQ(result.wait_for(seconds(20)), std::future_status::ready);
    const auto [outcome, ended] = result.get();
    if (outcome) {
      EXPECT_EQ(outcome->model.bytes.text(), "work");
      return;
    }
    EXPECT_EQ(outcome.error().reason, "WORKER_CRASHED");
    EXPECT_NE(outcome.error().message.find("SIGKILL"), std::string::npos)
        << outcome.error().message;
    until_failed_.push_back(std::chrono::duration_cast<milliseconds>(ended - killed));
  }

  CountingProbe probe_;
  std::unique_ptr<Runner> runner_;
  std::vector<milliseconds> until_failed_;
};

TEST_F(KilledWorkers, FailTheirJobsAndLeaveNothing) {
  const int kills = FromEnvironment("OCTAVO_KILLS", 50);
  std::mt19937 random(static_cast<unsigned>(FromEnvironment("OCTAVO_SEED", 1)));
  std::uniform_int_distribution<int> pause(0, 40);
  size_t descriptors = 0;
  int64_t bytes = 0;
  for (int i = 0; i < kills; ++i) {
    KillOnce(i, milliseconds(pause(random)));
    if (HasFatalFailure()) return;
    if (i != kills / 5) continue;
    descriptors = OpenDescriptors();
    bytes = ResidentBytes();
  }
  EXPECT_GT(static_cast<int>(until_failed_.size()), kills / 8) << "jobs that were hit";
  std::sort(until_failed_.begin(), until_failed_.end());
  // Half of the jobs, because other programs delay some of them.
  EXPECT_LT(until_failed_[until_failed_.size() / 2], milliseconds(200));
  EXPECT_LT(until_failed_.back(), seconds(5));
  EXPECT_LE(OpenDescriptors(), descriptors + 4) << "two for each spare worker";
  // A sanitizer keeps freed memory.
  EXPECT_LT(ResidentBytes() - bytes, int64_t{kLocked ? 4 : 512} << 20);
  // Figures of tests/faults/README.md: --gtest_output=xml.
  RecordProperty("failed", static_cast<int>(until_failed_.size()));
  const auto record = [&](const char* name, size_t at) {
    RecordProperty(name, static_cast<int>(until_failed_[at].count()));
  };
  record("median_ms", until_failed_.size() / 2);
  record("p99_ms", until_failed_.size() * 99 / 100);
  record("most_ms", until_failed_.size() - 1);
  RecordProperty("more_kib", static_cast<int>((ResidentBytes() - bytes) >> 10));
  runner_ = nullptr;
  EXPECT_TRUE(Children().empty());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left to reap";
}

}  // namespace
}  // namespace octavo::server::worker
