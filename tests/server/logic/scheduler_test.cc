// SPDX-License-Identifier: Apache-2.0
// Admission, the order of jobs, and the fate of all other jobs.
#include "server/session/scheduler.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "tests/server/logic/fake_runner.h"

namespace octavo::server {
namespace {

constexpr Footprint kSmall{.stored = 10, .working = 20};

struct Fixture {
  explicit Fixture(Limits given) : limits(std::move(given)) {}

  std::unique_ptr<Scheduler::Reservation> MustAdmit(const std::string& client,
                                                    Footprint size = kSmall) {
    auto reservation = scheduler.Admit(client, size);
    EXPECT_TRUE(reservation) << reservation.error().error->message;
    return std::move(*reservation);
  }
  // Records the name when the job starts, and its error when it is done.
  void Submit(Scheduler::Reservation& reservation, const std::string& name) {
    job::Request request;
    request.model = {.name = name, .bytes = Blob(name)};
    scheduler.Submit(reservation, {.request = std::move(request),
                                   .observer =
                                       [this, name](const job::Progress& progress) {
                                         std::lock_guard lock(mutex);
                                         if (progress.stage == "import") started.push_back(name);
                                       },
                                   .done =
                                       [this, name](Result<job::Outcome> outcome) {
                                         std::lock_guard lock(mutex);
                                         if (!outcome) errors[name] = outcome.error();
                                         ++done;
                                         changed.notify_all();
                                       }});
  }
  void WaitForDone(int count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(10), [&] { return done >= count; }));
  }

  Limits limits;
  FakeRunner runner;
  CountingProbe probe;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> started;
  std::map<std::string, Error> errors;
  int done = 0;
  Scheduler scheduler{limits, runner.AsRunner(), probe};
};

TEST(Scheduler, AFullQueueIsResourceExhaustedWithATimeToRetry) {
  Fixture fixture({.jobs_queued = 1, .workers = 1});
  const auto first = fixture.MustAdmit("a");
  const auto second = fixture.MustAdmit("a");
  const auto third = fixture.scheduler.Admit("a", kSmall);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().error->code, Code::kResourceExhausted);
  ASSERT_TRUE(third.error().retry_after);
  EXPECT_GT(third.error().retry_after->count(), 0);
  EXPECT_EQ(fixture.probe.rejections(RejectReason::kQueueFull), 1);
}

TEST(Scheduler, APlaceGivenBackLetsTheNextIn) {
  Fixture fixture({.jobs_queued = 0, .workers = 1});
  auto first = fixture.MustAdmit("a");
  EXPECT_FALSE(fixture.scheduler.Admit("a", kSmall));
  first.reset();
  EXPECT_TRUE(fixture.scheduler.Admit("a", kSmall));
}

TEST(Scheduler, AJobThatCanNeverFitIsTooLarge) {
  Fixture fixture({.bytes_reserved = 100});
  const auto reservation = fixture.scheduler.Admit("a", {.stored = 60, .working = 41});
  ASSERT_FALSE(reservation);
  EXPECT_EQ(reservation.error().error->code, Code::kTooLarge);
  EXPECT_EQ(reservation.error().error->reason, "TOO_LARGE");
  EXPECT_FALSE(reservation.error().retry_after);
  EXPECT_TRUE(fixture.scheduler.Admit("a", {.stored = 60, .working = 40}));
}

TEST(Scheduler, StoredBytesNeverStarveTheLargestAdmittedJob) {
  Fixture fixture({.jobs_queued = 100, .bytes_reserved = 100, .workers = 1});
  std::vector<std::unique_ptr<Scheduler::Reservation>> reservations;
  for (int i = 0; i < 100; ++i) {
    auto reservation = fixture.scheduler.Admit("a", {.stored = 10, .working = 40});
    if (!reservation) break;
    reservations.push_back(std::move(*reservation));
  }
  EXPECT_EQ(reservations.size(), 6u);  // 6 * 10 + 40
  EXPECT_EQ(fixture.probe.rejections(RejectReason::kMemory), 1);
  for (size_t i = 0; i < reservations.size(); ++i)
    fixture.Submit(*reservations[i], std::to_string(i));
  fixture.WaitForDone(6);
  EXPECT_TRUE(fixture.errors.empty());
}

TEST(Scheduler, AJobWaitsForItsBytesThoughASlotIsFree) {
  Fixture fixture({.jobs_queued = 10, .bytes_reserved = 100, .workers = 2});
  fixture.runner.Hold();
  const auto first = fixture.MustAdmit("a", {.stored = 10, .working = 50});
  const auto second = fixture.MustAdmit("b", {.stored = 10, .working = 50});
  fixture.Submit(*first, "first");
  fixture.Submit(*second, "second");
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  EXPECT_EQ(fixture.scheduler.Now().running, 1);
  EXPECT_EQ(fixture.scheduler.Now().waiting, 1);
  EXPECT_EQ(fixture.scheduler.Now().bytes_reserved, 70u);
  fixture.runner.Open();
  fixture.WaitForDone(2);
}

TEST(Scheduler, ClientsTakeTurns) {
  Fixture fixture({.jobs_queued = 10, .workers = 1});
  fixture.runner.Hold();
  std::vector<std::unique_ptr<Scheduler::Reservation>> reservations;
  for (const char* name : {"a1", "a2", "a3", "b1", "b2"}) {
    reservations.push_back(fixture.MustAdmit(std::string(1, name[0])));
    fixture.Submit(*reservations.back(), name);
  }
  fixture.runner.Open();
  fixture.WaitForDone(5);
  EXPECT_EQ(fixture.started, (std::vector<std::string>{"a1", "b1", "a2", "b2", "a3"}));
}

TEST(Scheduler, DrainRefusesWhatWaitsAndLetsWhatRunsFinish) {
  Fixture fixture({.jobs_queued = 10, .workers = 1});
  fixture.runner.Hold();
  const auto running = fixture.MustAdmit("a");
  const auto waiting = fixture.MustAdmit("a");
  const auto uploading = fixture.MustAdmit("a");
  fixture.Submit(*running, "running");
  fixture.Submit(*waiting, "waiting");
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  fixture.scheduler.Drain();
  fixture.Submit(*uploading, "uploading");
  fixture.WaitForDone(2);
  EXPECT_EQ(fixture.errors["waiting"].reason, "DRAINING");
  EXPECT_EQ(fixture.errors["waiting"].code, Code::kUnavailable);
  EXPECT_EQ(fixture.errors["uploading"].reason, "DRAINING");
  EXPECT_EQ(fixture.scheduler.Admit("a", kSmall).error().error->reason, "DRAINING");
  fixture.runner.Open();
  fixture.WaitForDone(3);
  EXPECT_FALSE(fixture.errors.contains("running"));
}

TEST(Scheduler, AThrowingJobIsAnInternalErrorAndItsSlotIsFreeAgain) {
  CountingProbe probe;
  int runs = 0;
  Scheduler scheduler(
      {.workers = 1},
      [&](const job::Request&, const StopToken&, const job::Observer&) -> Result<job::Outcome> {
        if (++runs == 1) throw std::runtime_error("boom");
        return job::Outcome{};
      },
      probe);
  for (const bool fails : {true, false}) {
    auto reservation = scheduler.Admit("a", kSmall);
    std::promise<Result<job::Outcome>> promise;
    scheduler.Submit(**reservation, {.done = [&](Result<job::Outcome> outcome) {
      promise.set_value(std::move(outcome));
    }});
    const auto outcome = promise.get_future().get();
    ASSERT_EQ(outcome.has_value(), !fails);
    if (fails) {
      EXPECT_EQ(outcome.error().message, "the job threw: boom");
    }
  }
}

TEST(Scheduler, ManyCallersAtOnceLoseNoJob) {
  Fixture fixture({.jobs_queued = 1000, .workers = 2});
  std::vector<std::thread> callers;
  std::mutex mutex;
  std::vector<std::unique_ptr<Scheduler::Reservation>> reservations;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 50; ++i) {
        auto reservation = fixture.MustAdmit(std::to_string(caller));
        fixture.Submit(*reservation, fmt::format("{}-{}", caller, i));
        if (i % 5 == 0) fixture.scheduler.Cancel(*reservation);
        std::lock_guard lock(mutex);
        reservations.push_back(std::move(reservation));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  fixture.WaitForDone(200);
  EXPECT_EQ(fixture.scheduler.Now().running, 0);
  reservations.clear();
  EXPECT_EQ(fixture.scheduler.Now().bytes_reserved, 0u);
}

}  // namespace
}  // namespace octavo::server
