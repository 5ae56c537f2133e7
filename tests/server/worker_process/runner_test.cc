// SPDX-License-Identifier: Apache-2.0
// The server against workers that do their worst: each ends as the interfaces say, and the next job
// runs.
#include "server/worker/runner.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "server/worker/worker.h"
#include "tests/server/worker_process/counting_probe.h"

namespace octavo::server::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

job::Request Command(std::string command) {
  return {.model = {.name = "m", .bytes = Blob(std::move(command))}};
}

class RunnerAtLevel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    auto runner = Runner::Start({.program = HOSTILE_WORKER,
                                 .build = "hostile",
                                 .highest_level = std::max(1, GetParam()),
                                 .job_memory = uint64_t{256} << 20,
                                 .job_cpu = job_cpu_,
                                 .output_bytes = uint64_t{64} << 20},
                                probe_);
    ASSERT_TRUE(runner) << runner.error().message;
    runner_ = *std::move(runner);
    if (runner_->level() != GetParam()) {
      GTEST_SKIP() << "this kernel permits level " << runner_->level();
    }
  }

  Result<job::Outcome> Run(std::string command, const StopToken& stop = {}) {
    return runner_->Run(Command(std::move(command)), stop, [](const job::Progress&) {});
  }
  // The job fails like this, and the next one succeeds.
  void ExpectFailure(const std::string& command, Code code, std::string_view reason,
                     std::string_view words, Cause cause) {
    const auto outcome = Run(command);
    ASSERT_FALSE(outcome) << command;
    EXPECT_EQ(outcome.error().code, code) << outcome.error().message;
    EXPECT_EQ(outcome.error().reason, reason) << outcome.error().message;
    EXPECT_NE(outcome.error().message.find(words), std::string::npos) << outcome.error().message;
    EXPECT_EQ(probe_.count(cause), 1) << NameOf(cause);
    EXPECT_TRUE(Run("echo")) << "after " << command;
  }
  void ExpectCrash(const std::string& command, std::string_view words) {
    ExpectFailure(command, Code::kAborted, "WORKER_CRASHED", words, Cause::kCrashed);
  }
  void ExpectBrokenProtocol(const std::string& command, std::string_view words) {
    ExpectFailure(command, Code::kAborted, "WORKER_CRASHED", words, Cause::kProtocol);
  }

  seconds job_cpu_ = seconds(1);
  CountingProbe probe_;
  std::unique_ptr<Runner> runner_;
};

// What a build with a sanitizer cannot bound: worker.h.
class RunnerLockedIn : public RunnerAtLevel {
 protected:
  // Some machines need more than a second for the page faults of 256 MiB.
  RunnerLockedIn() { job_cpu_ = seconds(30); }
};

TEST_P(RunnerAtLevel, RunsAJob) {
  std::string stages;
  job::Request request = Command("some bytes");
  request.external_data = {{.name = "w", .bytes = Blob(std::string(3 << 20, 'w'))},
                           {.name = "empty", .bytes = Blob(std::string())}};
  request.samples = {{.name = "random:1:2", .bytes = Blob(std::string())}};
  const auto outcome = runner_->Run(request, {}, [&](const job::Progress& p) {
    stages += fmt::format("{}/{} {}/{};", p.stage, p.pass, p.done, p.total);
  });
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->model.bytes.text(), "some bytes");
  ASSERT_EQ(outcome->external.size(), 2u);
  EXPECT_EQ(outcome->external[0].bytes.text(), std::string(3 << 20, 'w'));
  EXPECT_EQ(outcome->external[1].name, "empty");
  EXPECT_EQ(outcome->report_json, "1 samples");
  EXPECT_EQ(stages, "passes/lower 1/2;");
}

TEST_P(RunnerLockedIn, AWorkerOpensNoFile) {
  ExpectFailure("open", Code::kUnimplemented, "UNSUPPORTED", "Operation not permitted",
                Cause::kFinished);
}
TEST_P(RunnerLockedIn, AWorkerReachesNoSocket) { ExpectCrash("connect", "SIGSYS"); }
TEST_P(RunnerLockedIn, AWorkerStartsNoProcess) { ExpectCrash("fork", "SIGSYS"); }
TEST_P(RunnerLockedIn, AWorkerTracesNoProcess) { ExpectCrash("ptrace", "SIGSYS"); }
TEST_P(RunnerLockedIn, AWorkerSignalsNoProcess) { ExpectCrash("kill", "SIGSYS"); }
TEST_P(RunnerLockedIn, ADeepRecursionEndsTheWorker) { ExpectCrash("recurse", "SIGSEGV"); }
TEST_P(RunnerAtLevel, AnExceptionInAThreadEndsTheWorker) { ExpectCrash("throw", "SIGABRT"); }
TEST_P(RunnerAtLevel, ACrashNamesStageAndPass) {
  ExpectCrash("leave", "ended with code 0, in stage passes, pass lower");
}
TEST_P(RunnerAtLevel, ACrashNamesItsNode) {
  const auto outcome = Run("crash in a node");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, "WORKER_CRASHED");
  EXPECT_NE(outcome.error().message.find("SIGSEGV"), std::string::npos) << outcome.error().message;
  EXPECT_NE(outcome.error().message.find("node 'conv?1x"), std::string::npos)
      << outcome.error().message;
  EXPECT_EQ(outcome.error().node, "conv?1" + std::string(94, 'x')) << "cut at 100 bytes";
}
TEST_P(RunnerLockedIn, LackOfMemoryNamesItsNode) {
  const auto outcome = Run("allocate in a node");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, "JOB_MEMORY");
  EXPECT_EQ(outcome.error().node, "large");
}
TEST_P(RunnerLockedIn, AllocationsAreBounded) {
  ExpectFailure("allocate", Code::kTooLarge, "JOB_MEMORY", "--job-memory", Cause::kMemory);
  EXPECT_LT(probe_.peak_rss(), uint64_t{400} << 20);
}
TEST_P(RunnerLockedIn, AllocationsOfThreadsAreBounded) {
  ExpectFailure("allocate in a thread", Code::kTooLarge, "JOB_MEMORY", "in stage passes",
                Cause::kMemory);
}
TEST_P(RunnerAtLevel, ProcessorTimeIsBounded) {
  ExpectFailure("loop", Code::kDeadlineExceeded, "JOB_TIMEOUT", "--job-cpu", Cause::kCpu);
}
TEST_P(RunnerAtLevel, OutputIsBounded) {
  ExpectFailure("fill output", Code::kTooLarge, "TOO_LARGE", "results have more than",
                Cause::kOutput);
}
TEST_P(RunnerAtLevel, GarbageIsNoFrame) { ExpectBrokenProtocol("garbage", "no message"); }
TEST_P(RunnerAtLevel, FramesAreBounded) { ExpectBrokenProtocol("long frame", "bytes"); }
TEST_P(RunnerAtLevel, AFloodOfFramesIsBounded) { ExpectBrokenProtocol("flood", "in a second"); }
TEST_P(RunnerAtLevel, StagesAreChecked) { ExpectBrokenProtocol("unknown stage", "stage"); }
TEST_P(RunnerAtLevel, AnEstimateIsBounded) {
  ExpectBrokenProtocol("estimate all memory", "estimate");
}
TEST_P(RunnerAtLevel, AnEstimateIsPositive) {
  ExpectBrokenProtocol("estimate less than nothing", "estimate of -1 bytes");
}
TEST_P(RunnerAtLevel, AnEstimateIsMadeOnce) {
  ExpectBrokenProtocol("estimate twice", "estimate of 67108864 bytes");
}
TEST_P(RunnerAtLevel, PlacesOfResultsAreChecked) {
  ExpectBrokenProtocol("results outside", "outside of the output");
}
TEST_P(RunnerAtLevel, NamesOfResultsAreChecked) {
  ExpectBrokenProtocol("path as name", "no file name");
}
TEST_P(RunnerAtLevel, AWorkerThatGoesOnIsKilled) {
  ExpectBrokenProtocol("never ends", "did not end");
}

#ifdef OCTAVO_UNLOCKED_WORKERS
INSTANTIATE_TEST_SUITE_P(Unlocked, RunnerAtLevel, testing::Values(0));
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RunnerLockedIn);
#else
INSTANTIATE_TEST_SUITE_P(Levels, RunnerAtLevel, testing::Values(1, 2, 3));
INSTANTIATE_TEST_SUITE_P(Levels, RunnerLockedIn, testing::Values(1, 2, 3));
#endif

// The rest does not depend on the level.
class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto runner = Runner::Start({.program = HOSTILE_WORKER, .build = "hostile"}, probe_);
    ASSERT_TRUE(runner) << runner.error().message;
    runner_ = *std::move(runner);
  }
  // Starts the job on a thread, waits until it runs, and gives it the stop token.
  std::future<Result<job::Outcome>> Begin(std::string command, const StopToken& stop) {
    std::promise<void> began;
    auto has_begun = began.get_future();
    auto result = std::async(std::launch::async, [this, command = std::move(command), stop,
                                                  began = std::move(began)]() mutable {
      bool first = true;
      return runner_->Run(Command(command), stop, [&](const job::Progress&) {
        if (std::exchange(first, false)) began.set_value();
      });
    });
    EXPECT_EQ(has_begun.wait_for(seconds(20)), std::future_status::ready);
    return result;
  }

  CountingProbe probe_;
  std::unique_ptr<Runner> runner_;
};

TEST_F(RunnerTest, APoliteJobStopsAtOnce) {
  const StopToken stop;
  auto result = Begin("loop politely", stop);
  stop.RequestStop();
  const auto asked = Clock::now();
  const auto outcome = result.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kCancelled);
  EXPECT_LT(Clock::now() - asked, milliseconds(900)) << "it was asked, not killed";
  EXPECT_EQ(probe_.count(Cause::kCancelled), 1);
}

TEST_F(RunnerTest, ADeafJobIsKilledAfterASecond) {
  const StopToken stop;
  auto result = Begin("loop", stop);
  stop.RequestStop();
  const auto asked = Clock::now();
  const auto outcome = result.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kCancelled);
  EXPECT_GE(Clock::now() - asked, milliseconds(900));
  EXPECT_LT(Clock::now() - asked, seconds(10));
  EXPECT_EQ(probe_.count(Cause::kCancelled), 1);
}

TEST_F(RunnerTest, ADeadlineIsNamed) {
  const StopToken stop(Clock::now() + seconds(1));
  const auto outcome = Begin("loop politely", stop).get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kDeadlineExceeded);
}

TEST_F(RunnerTest, AStoppedJobStartsNoWorker) {
  const StopToken stop;
  stop.RequestStop();
  const auto outcome = runner_->Run(Command("echo"), stop, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kCancelled);
  EXPECT_EQ(probe_.started(), 1) << "the one that Start tried";
}

TEST_F(RunnerTest, AJobThatCrashedTwiceIsRefused) {
  for (int i = 0; i < 2; ++i) {
    const auto outcome = runner_->Run(Command("leave"), {}, {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().reason, "WORKER_CRASHED");
  }
  const auto outcome = runner_->Run(Command("leave"), {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, "POISONED");
  EXPECT_EQ(probe_.count(Cause::kCrashed), 2) << "it had no third worker";
  EXPECT_TRUE(runner_->Run(Command("echo"), {}, {}));
}

TEST_F(RunnerTest, TheTimeThatASpareWaitsIsNoStartTime) {
  const auto begin = Clock::now();
  ASSERT_TRUE(runner_->Run(Command("echo"), {}, {}));
  const std::chrono::duration<double> first = Clock::now() - begin;
  std::this_thread::sleep_for(first + seconds(1));
  ASSERT_TRUE(runner_->Run(Command("echo"), {}, {}));
  for (const double took : probe_.start_seconds()) {
    EXPECT_GT(took, 0);
    EXPECT_LT(took, first.count() + 1);
  }
}

// 2 GiB are allowed, but the job has said that it needs 32 MiB.
TEST_F(RunnerTest, AnEstimateLowersTheLimit) {
  if (!kLocked) GTEST_SKIP() << "this build cannot limit memory";
  int64_t estimate = 0;
  const auto outcome =
      runner_->Run(Command("allocate beyond the estimate"), {},
                   [&](const job::Progress& p) { estimate = std::max(estimate, p.memory_bytes); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().reason, "JOB_MEMORY") << outcome.error().message;
  EXPECT_EQ(outcome.error().node, "large");
  EXPECT_NE(outcome.error().message.find("its estimate was 33554432"), std::string::npos)
      << outcome.error().message;
  EXPECT_EQ(estimate, int64_t{32} << 20);
  EXPECT_LT(probe_.peak_rss(), uint64_t{400} << 20);
  EXPECT_EQ(probe_.count(Cause::kMemory), 1);
}

TEST_F(RunnerTest, JobsRunAtTheSameTime) {
  std::vector<std::future<Result<job::Outcome>>> results;
  const StopToken stop;
  for (int i = 0; i < 4; ++i) results.push_back(Begin("loop politely", stop));
  EXPECT_TRUE(runner_->Run(Command("echo"), {}, {}));
  stop.RequestStop();
  for (auto& result : results) EXPECT_EQ(result.get().error().code, Code::kCancelled);
}

TEST(RunnerStart, NamesAProgramThatCannotRun) {
  CountingProbe probe;
  for (const char* program : {"/nowhere/octavo-worker", "/bin/true"}) {
    const auto runner = Runner::Start({.program = program, .build = "hostile"}, probe);
    ASSERT_FALSE(runner) << program;
    EXPECT_EQ(runner.error().code, Code::kUsage);
    EXPECT_NE(runner.error().message.find("--isolation thread"), std::string::npos);
  }
}

TEST(RunnerStart, RefusesAWorkerOfAnotherBuild) {
  CountingProbe probe;
  const auto runner = Runner::Start({.program = HOSTILE_WORKER, .build = "mine"}, probe);
  ASSERT_FALSE(runner);
  EXPECT_EQ(runner.error().field, "--worker");
}

TEST(RunnerStart, RefusesLessIsolationThanRequired) {
  if (!kLocked) GTEST_SKIP() << "this build cannot lock workers in";
  CountingProbe probe;
  const auto runner = Runner::Start(
      {.program = HOSTILE_WORKER, .build = "hostile", .highest_level = 1, .required_level = 2},
      probe);
  ASSERT_FALSE(runner);
  EXPECT_EQ(runner.error().field, "--require-sandbox");
}

}  // namespace
}  // namespace octavo::server::worker
