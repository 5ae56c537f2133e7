// SPDX-License-Identifier: Apache-2.0
// Admission, the order of jobs, and the fate of all other jobs.
#include "server/session/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
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
    auto stored = scheduler.Store(**reservation, size.stored);
    EXPECT_TRUE(stored) << stored.error().error->message;
    return std::move(*reservation);
  }
  // Records the name when the job starts, and its error when it is done or refused.
  void Submit(Scheduler::Reservation& reservation, const std::string& name, int priority = 0) {
    job::Request request;
    request.model = {.name = name, .bytes = Blob(name)};
    const auto done_with = [this, name](const Result<job::Outcome>& outcome) {
      std::lock_guard lock(mutex);
      if (!outcome) errors[name] = outcome.error();
      ++done;
      changed.notify_all();
    };
    auto queued = scheduler.Submit(reservation, {.request = std::move(request),
                                                 .priority = priority,
                                                 .observer =
                                                     [this, name](const job::Progress& progress) {
                                                       std::lock_guard lock(mutex);
                                                       if (progress.stage == "import")
                                                         started.push_back(name);
                                                     },
                                                 .done = done_with});
    if (!queued) done_with(Forward(*queued.error().error));
  }
  std::unique_ptr<Scheduler::Reservation> MustQueue(const std::string& client,
                                                    const std::string& name) {
    auto reservation = MustAdmit(client);
    Submit(*reservation, name);
    return reservation;
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
  fixture.runner.Hold();
  const auto first = fixture.MustQueue("a", "first");
  const auto second = fixture.MustQueue("b", "second");
  const auto third = fixture.scheduler.Admit("c", kSmall);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().error->code, Code::kResourceExhausted);
  EXPECT_EQ(third.error().error->reason, "OVERLOADED");
  ASSERT_TRUE(third.error().retry_after);
  EXPECT_GT(third.error().retry_after->count(), 0);
  EXPECT_EQ(fixture.probe.rejections(RejectReason::kQueueFull), 1);
  fixture.runner.Open();
  fixture.WaitForDone(2);
}

TEST(Scheduler, AQueueThatFilledDuringAnUploadRefusesItsJob) {
  Fixture fixture({.jobs_queued = 0, .workers = 1});
  fixture.runner.Hold();
  const auto slow = fixture.MustAdmit("a");
  const auto quick = fixture.MustQueue("b", "quick");
  auto queued = fixture.scheduler.Submit(*slow, {});
  ASSERT_FALSE(queued);
  EXPECT_EQ(queued.error().error->reason, "OVERLOADED");
  EXPECT_TRUE(queued.error().retry_after);
  fixture.runner.Open();
  fixture.WaitForDone(1);
}

TEST(Scheduler, APlaceIsFreeAsSoonAsItsJobHasRun) {
  Fixture fixture({.jobs_queued = 0, .workers = 1});
  const auto first = fixture.MustQueue("a", "first");  // kept: its result may not have been sent
  fixture.WaitForDone(1);
  const auto second = fixture.MustQueue("a", "second");
  fixture.WaitForDone(2);
  EXPECT_TRUE(fixture.errors.empty());
  EXPECT_EQ(fixture.scheduler.Now().bytes_reserved, 0u);
}

TEST(Scheduler, UploadsHoldNoPlaceOfJobs) {
  Fixture fixture({.jobs_queued = 0, .workers = 1});
  std::vector<std::unique_ptr<Scheduler::Reservation>> uploads;
  for (int i = 0; i < 40; ++i) uploads.push_back(fixture.MustAdmit("a"));
  EXPECT_EQ(fixture.scheduler.Now().uploads, 40);
  const auto job = fixture.MustQueue("b", "job");
  fixture.WaitForDone(1);
  EXPECT_TRUE(fixture.errors.empty());
}

TEST(Scheduler, DeclaredBytesReserveNothing) {
  Fixture fixture({.bytes_reserved = 1000});
  const auto large = fixture.scheduler.Admit("a", {.stored = 500, .working = 500});
  ASSERT_TRUE(large);
  EXPECT_TRUE(fixture.scheduler.Store(**large, 100));
  EXPECT_EQ(fixture.scheduler.Now().bytes_reserved, 100u);
  EXPECT_TRUE(fixture.scheduler.Admit("b", {.stored = 300, .working = 500}));
}

TEST(Scheduler, AClientHoldsAtMostAsManyPlacesAsAreFree) {
  Fixture fixture({.uploads = 8, .jobs_queued = 7, .workers = 1});
  std::vector<std::unique_ptr<Scheduler::Reservation>> held;
  const auto take = [&](const std::string& client) {
    int count = 0;
    while (auto admitted = fixture.scheduler.Admit(client, kSmall)) {
      held.push_back(std::move(*admitted));
      ++count;
    }
    return count;
  };
  EXPECT_EQ(take("a"), 4);
  EXPECT_EQ(take("b"), 2);
  EXPECT_EQ(take("c"), 1);
  EXPECT_EQ(take("d"), 1);
  EXPECT_GT(fixture.probe.rejections(RejectReason::kUploads), 0);
  held.clear();
  fixture.runner.Hold();
  for (const std::string client : {"a", "b"}) {
    while (auto admitted = fixture.scheduler.Admit(client, kSmall)) {
      fixture.Submit(**admitted, client);
      held.push_back(std::move(*admitted));
    }
  }
  EXPECT_EQ(held.size(), 6u);  // four of a, two of b
  EXPECT_TRUE(fixture.errors.empty());
  fixture.runner.Open();
  fixture.WaitForDone(6);
}

TEST(Scheduler, AClientsSecondUploadLeavesBytesForOthers) {
  Fixture fixture({.bytes_reserved = 1000});
  constexpr Footprint kSize{.stored = 400, .working = 10};
  const auto first = fixture.MustAdmit("a", kSize);
  const auto second = fixture.scheduler.Admit("a", kSize);
  ASSERT_TRUE(second);
  EXPECT_TRUE(fixture.scheduler.Store(**second, 100));
  const auto refused = fixture.scheduler.Store(**second, 100);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error->reason, "OVERLOADED");
  EXPECT_TRUE(refused.error().retry_after);
  fixture.MustAdmit("b", kSize);
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

TEST(Scheduler, StoredBytesNeverStarveTheLargestJob) {
  Fixture fixture({.jobs_queued = 100, .bytes_reserved = 100, .workers = 1});
  fixture.runner.Hold();
  std::vector<std::unique_ptr<Scheduler::Reservation>> reservations;
  for (int i = 0; i < 100; ++i) {
    auto reservation = fixture.scheduler.Admit(std::to_string(i), {.stored = 10, .working = 40});
    if (!reservation) break;
    ASSERT_TRUE(fixture.scheduler.Store(**reservation, 10));
    fixture.Submit(**reservation, std::to_string(i));
    reservations.push_back(std::move(*reservation));
  }
  EXPECT_EQ(reservations.size(), 6u);  // 6 * 10 + 40
  EXPECT_EQ(fixture.probe.rejections(RejectReason::kMemory), 1);
  fixture.runner.Open();
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

TEST(Scheduler, NewcomersDoNotStarveAClientThatWaits) {
  Fixture fixture({.jobs_queued = 200, .workers = 1});
  fixture.runner.Hold();
  std::vector<std::unique_ptr<Scheduler::Reservation>> reservations;
  for (int i = 0; i < 4; ++i) {
    reservations.push_back(fixture.MustQueue("patient", "patient" + std::to_string(i)));
  }
  // At each job's start a client comes that has never been here.
  std::atomic<int> newcomers{0};
  const auto order = [&] {
    std::lock_guard lock(fixture.mutex);
    return fixture.started;
  };
  fixture.runner.OnStart([&] {
    if (newcomers == 60) return;
    const std::string name = "newcomer" + std::to_string(newcomers++);
    reservations.push_back(fixture.MustQueue(name, name));
  });
  fixture.runner.Open();
  fixture.WaitForDone(64);
  const auto started = order();
  const auto last = std::ranges::find(started, "patient3");
  ASSERT_NE(last, started.end());
  EXPECT_LT(last - started.begin(), 20);
}

TEST(Scheduler, AClientWithAThousandJobsLetsAnotherWaitForTwo) {
  Fixture fixture({.uploads = 5000, .jobs_queued = 5000, .workers = 1});
  std::vector<std::unique_ptr<Scheduler::Reservation>> held;
  fixture.runner.Hold();
  for (int i = 0; i < 1000; ++i) held.push_back(fixture.MustQueue("many", std::to_string(i)));
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  held.push_back(fixture.MustQueue("one", "one"));
  fixture.runner.Open();
  fixture.WaitForDone(1001);
  const auto at = std::ranges::find(fixture.started, "one") - fixture.started.begin();
  EXPECT_LE(at, 2);
  EXPECT_TRUE(fixture.errors.empty());
}

TEST(Scheduler, AClientThatAsksForAllPlacesLeavesOneForAnother) {
  Fixture fixture({});  // 32 that wait
  std::vector<std::unique_ptr<Scheduler::Reservation>> held;
  fixture.runner.Hold();
  int refused = 0;
  const auto ask = [&](int times) {
    for (int i = 0; i < times; ++i) {
      auto admitted = fixture.scheduler.Admit("many", kSmall);
      if (!admitted) {
        ++refused;
        continue;
      }
      fixture.Submit(**admitted, "many");
      held.push_back(std::move(*admitted));
    }
  };
  ask(1000);
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  EXPECT_GT(refused, 900);
  held.push_back(fixture.MustQueue("one", "one"));
  ask(100);
  fixture.runner.Open();
  fixture.WaitForDone(static_cast<int>(held.size()));
  const auto at = std::ranges::find(fixture.started, "one") - fixture.started.begin();
  EXPECT_LE(at, 2);
}

TEST(Scheduler, AClientsJobsRunByPriorityThenArrival) {
  Fixture fixture({.jobs_queued = 100, .workers = 1});
  std::vector<std::unique_ptr<Scheduler::Reservation>> held;
  fixture.runner.Hold();
  held.push_back(fixture.MustQueue("a", "running"));
  ASSERT_TRUE(fixture.runner.WaitForStarts(1));
  const auto queue = [&](const std::string& client, const std::string& name, int priority) {
    held.push_back(fixture.MustAdmit(client));
    fixture.Submit(*held.back(), name, priority);
  };
  queue("a", "low", -1);
  queue("a", "first", 0);
  queue("a", "urgent", 10);
  queue("a", "second", 0);
  // Another client's turn comes whatever its priority.
  queue("b", "other", -5);
  fixture.runner.Open();
  fixture.WaitForDone(6);
  EXPECT_EQ(fixture.started,
            (std::vector<std::string>{"running", "other", "urgent", "first", "second", "low"}));
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
    ASSERT_TRUE(scheduler.Submit(**reservation, {.done = [&](Result<job::Outcome> outcome) {
      promise.set_value(std::move(outcome));
    }}));
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
