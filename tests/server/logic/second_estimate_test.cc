// SPDX-License-Identifier: Apache-2.0
// The estimate that a running job makes replaces the one of its files.
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "server/session/scheduler.h"
#include "tests/server/logic/fake_runner.h"

namespace octavo::server {
namespace {

// Jobs that report what their model's text says, and then run until they are told to end.
class SecondEstimate : public testing::Test {
 protected:
  inline static const Limits kLimits{.jobs_queued = 10, .bytes_reserved = 100, .workers = 2};

  std::unique_ptr<Scheduler::Reservation> Queue(const std::string& name, Footprint size,
                                                int64_t estimate) {
    auto reservation = scheduler_.Admit(name, size);
    EXPECT_TRUE(reservation) << reservation.error().error->message;
    EXPECT_TRUE(scheduler_.Store(**reservation, size.stored));
    job::Request request;
    request.model = {.name = name, .bytes = Blob(std::to_string(estimate))};
    const auto queued = scheduler_.Submit(
        **reservation,
        {.request = std::move(request), .done = [this, name](const Result<job::Outcome>& outcome) {
           const std::lock_guard lock(mutex_);
           ends_[name] = outcome ? "" : outcome.error().reason;
           changed_.notify_all();
         }});
    EXPECT_TRUE(queued);
    return std::move(*reservation);
  }
  Result<job::Outcome> Run(const job::Request& request, const StopToken& stop,
                           const job::Observer& observer) {
    observer({.stage = "import",
              .done = 1,
              .total = 1,
              .memory_bytes = std::stoll(std::string(request.model.bytes.text()))});
    std::unique_lock lock(mutex_);
    ++runs_[request.model.name];
    changed_.notify_all();
    while (!may_end_[request.model.name]) {
      OCTAVO_CHECK(stop.Check());
      changed_.wait_for(lock, std::chrono::milliseconds(2));
    }
    return job::Outcome{};
  }
  void End(const std::string& name) {
    const std::lock_guard lock(mutex_);
    may_end_[name] = true;
    changed_.notify_all();
  }
  bool WaitForRuns(const std::string& name, int count) {
    return WaitFor([&] { return runs_[name] >= count; });
  }
  bool WaitForEnd(const std::string& name) {
    return WaitFor([&] { return ends_.contains(name); });
  }
  bool WaitForReserved(uint64_t bytes) {
    const auto most = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (scheduler_.Now().bytes_reserved != bytes) {
      if (std::chrono::steady_clock::now() > most) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }
  std::string EndOf(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return ends_[name];
  }

  CountingProbe probe_;
  Scheduler scheduler_{
      kLimits,
      [this](const job::Request& request, const StopToken& stop, const job::Observer& observer) {
        return Run(request, stop, observer);
      },
      probe_};

 private:
  template <class Reached>
  bool WaitFor(const Reached& reached) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), reached);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> runs_;
  std::map<std::string, bool> may_end_;
  std::map<std::string, std::string> ends_;
};

TEST_F(SecondEstimate, ALowerOneGivesBytesBack) {
  const auto large = Queue("large", {.stored = 10, .working = 60}, 20);
  ASSERT_TRUE(WaitForRuns("large", 1));
  EXPECT_EQ(scheduler_.Now().bytes_reserved, 30u);
  const auto other = Queue("other", {.stored = 10, .working = 60}, 60);
  ASSERT_TRUE(WaitForRuns("other", 1)) << "it runs with the first";
  EXPECT_EQ(scheduler_.Now().bytes_reserved, 100u);
  End("large");
  End("other");
  ASSERT_TRUE(WaitForEnd("large") && WaitForEnd("other"));
  EXPECT_TRUE(WaitForReserved(0));
}

TEST_F(SecondEstimate, AHigherOneIsReservedWhileTheJobRuns) {
  const auto job = Queue("job", {.stored = 10, .working = 20}, 70);
  ASSERT_TRUE(WaitForRuns("job", 1));
  EXPECT_EQ(scheduler_.Now().bytes_reserved, 80u);
  End("job");
  ASSERT_TRUE(WaitForEnd("job"));
  EXPECT_EQ(EndOf("job"), "");
  EXPECT_TRUE(WaitForReserved(0));
}

TEST_F(SecondEstimate, AJobWhoseBytesAreTakenStartsAgainWhenTheyAreFree) {
  const auto first = Queue("first", {.stored = 10, .working = 50}, 50);
  ASSERT_TRUE(WaitForRuns("first", 1));
  const auto grown = Queue("grown", {.stored = 10, .working = 20}, 60);
  ASSERT_TRUE(WaitForRuns("grown", 1));
  ASSERT_TRUE(WaitForReserved(70)) << "it stopped";
  EXPECT_EQ(scheduler_.Now().waiting, 1);
  End("first");
  ASSERT_TRUE(WaitForRuns("grown", 2));
  EXPECT_EQ(EndOf("first"), "");
  End("grown");
  ASSERT_TRUE(WaitForEnd("grown"));
  EXPECT_EQ(EndOf("grown"), "");
  EXPECT_TRUE(WaitForReserved(0));
}

TEST_F(SecondEstimate, AJobThatWaitsAgainCanBeCancelled) {
  const auto first = Queue("first", {.stored = 10, .working = 50}, 50);
  ASSERT_TRUE(WaitForRuns("first", 1));
  auto grown = Queue("grown", {.stored = 10, .working = 20}, 60);
  ASSERT_TRUE(WaitForRuns("grown", 1));
  ASSERT_TRUE(WaitForReserved(70));
  grown.reset();
  ASSERT_TRUE(WaitForEnd("grown"));
  EXPECT_EQ(EndOf("grown"), "CANCELLED");
  End("first");
  ASSERT_TRUE(WaitForEnd("first"));
  EXPECT_TRUE(WaitForReserved(0));
}

// Two jobs that wait for each other's uploads to go would wait for ever.
TEST_F(SecondEstimate, AJobThatUploadsKeepOutIsRefusedAndMayAskAgain) {
  const auto first = Queue("first", {.stored = 30, .working = 20}, 20);
  ASSERT_TRUE(WaitForRuns("first", 1));
  const auto grown = Queue("grown", {.stored = 30, .working = 20}, 60);
  ASSERT_TRUE(WaitForEnd("grown"));
  EXPECT_EQ(EndOf("grown"), "OVERLOADED");
  End("first");
  ASSERT_TRUE(WaitForEnd("first"));
  EXPECT_TRUE(WaitForReserved(0));
}

TEST_F(SecondEstimate, AJobThatWouldWaitAgainIsToldOfTheDrain) {
  const auto first = Queue("first", {.stored = 10, .working = 50}, 50);
  ASSERT_TRUE(WaitForRuns("first", 1));
  const auto grown = Queue("grown", {.stored = 10, .working = 20}, 60);
  ASSERT_TRUE(WaitForReserved(70));
  scheduler_.Drain();
  ASSERT_TRUE(WaitForEnd("grown"));
  EXPECT_EQ(EndOf("grown"), "DRAINING");
  End("first");
  ASSERT_TRUE(WaitForEnd("first"));
}

// What a worker says cannot take more than there is.
TEST_F(SecondEstimate, ItIsBoundedByTheBudget) {
  const auto job = Queue("job", {.stored = 10, .working = 20}, INT64_MAX);
  ASSERT_TRUE(WaitForRuns("job", 1));
  EXPECT_EQ(scheduler_.Now().bytes_reserved, 100u);
  End("job");
  ASSERT_TRUE(WaitForEnd("job"));
  EXPECT_TRUE(WaitForReserved(0));
}

// The job itself refuses what exceeds it, and names the node.
TEST_F(SecondEstimate, AJobKnowsWhatItMayUse) {
  std::optional<int64_t> most;
  Scheduler scheduler(
      kLimits,
      [&](const job::Request& request, const StopToken&, const job::Observer&) {
        most = request.limits.memory_bytes;
        return job::Outcome{};
      },
      probe_);
  auto reservation = scheduler.Admit("a", {.stored = 10, .working = 20});
  ASSERT_TRUE(reservation);
  ASSERT_TRUE(scheduler.Store(**reservation, 10));
  std::promise<void> done;
  ASSERT_TRUE(scheduler.Submit(**reservation,
                               {.done = [&](const Result<job::Outcome>&) { done.set_value(); }}));
  ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(most, 90);
}

}  // namespace
}  // namespace octavo::server
