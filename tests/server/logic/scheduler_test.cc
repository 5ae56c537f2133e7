// Who is let in, who runs next, and what happens to the rest.
#include "server/session/scheduler.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

#include "tests/server/logic/fake_runner.h"

namespace octavo::server {
namespace {

constexpr Footprint kSmall{.stored = 10, .working = 20};

struct Hall {
  explicit Hall(Limits given) : limits(given) {}

  std::unique_ptr<Scheduler::Place> MustAdmit(const std::string& client, Footprint size = kSmall) {
    auto place = scheduler.Admit(client, size);
    EXPECT_TRUE(place) << place.error().error->message;
    return std::move(*place);
  }
  // Notes the name when the job starts, and its error when it is done.
  void Submit(Scheduler::Place& place, const std::string& name) {
    job::Request request;
    request.model = {.name = name, .bytes = Blob(name)};
    scheduler.Submit(place, {.request = std::move(request),
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
                                 }});
  }
  void WaitForDone(int count) {
    for (;;) {
      {
        std::lock_guard lock(mutex);
        if (done >= count) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  Limits limits;
  FakeRunner runner;
  CountingProbe probe;
  std::mutex mutex;
  std::vector<std::string> started;
  std::map<std::string, Error> errors;
  int done = 0;
  Scheduler scheduler{limits, runner.AsRunner(), probe};
};

TEST(Scheduler, AFullQueueIsResourceExhaustedWithATimeToRetry) {
  Hall hall({.jobs_queued = 1, .workers = 1});
  const auto first = hall.MustAdmit("a");
  const auto second = hall.MustAdmit("a");
  const auto third = hall.scheduler.Admit("a", kSmall);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().error->code, Code::kResourceExhausted);
  ASSERT_TRUE(third.error().retry_after);
  EXPECT_GT(third.error().retry_after->count(), 0);
  EXPECT_EQ(hall.probe.rejections(RejectReason::kQueueFull), 1);
}

TEST(Scheduler, APlaceGivenBackLetsTheNextIn) {
  Hall hall({.jobs_queued = 0, .workers = 1});
  auto first = hall.MustAdmit("a");
  EXPECT_FALSE(hall.scheduler.Admit("a", kSmall));
  first.reset();
  EXPECT_TRUE(hall.scheduler.Admit("a", kSmall));
}

TEST(Scheduler, AJobThatCanNeverFitIsTooLarge) {
  Hall hall({.bytes_reserved = 100});
  const auto place = hall.scheduler.Admit("a", {.stored = 60, .working = 41});
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().error->code, Code::kTooLarge);
  EXPECT_EQ(place.error().error->reason, "TOO_LARGE");
  EXPECT_FALSE(place.error().retry_after);
  EXPECT_TRUE(hall.scheduler.Admit("a", {.stored = 60, .working = 40}));
}

TEST(Scheduler, StoredBytesNeverStarveTheHungriestAdmittedJob) {
  Hall hall({.jobs_queued = 100, .bytes_reserved = 100, .workers = 1});
  std::vector<std::unique_ptr<Scheduler::Place>> places;
  for (int i = 0; i < 100; ++i) {
    auto place = hall.scheduler.Admit("a", {.stored = 10, .working = 40});
    if (!place) break;
    places.push_back(std::move(*place));
  }
  EXPECT_EQ(places.size(), 6u);  // 6 * 10 + 40
  EXPECT_EQ(hall.probe.rejections(RejectReason::kMemory), 1);
  for (size_t i = 0; i < places.size(); ++i) hall.Submit(*places[i], std::to_string(i));
  hall.WaitForDone(6);
  EXPECT_TRUE(hall.errors.empty());
}

TEST(Scheduler, AJobWaitsForItsBytesThoughASlotIsFree) {
  Hall hall({.jobs_queued = 10, .bytes_reserved = 100, .workers = 2});
  hall.runner.Hold();
  const auto first = hall.MustAdmit("a", {.stored = 10, .working = 50});
  const auto second = hall.MustAdmit("b", {.stored = 10, .working = 50});
  hall.Submit(*first, "first");
  hall.Submit(*second, "second");
  ASSERT_TRUE(hall.runner.WaitForStarts(1));
  EXPECT_EQ(hall.scheduler.Now().running, 1);
  EXPECT_EQ(hall.scheduler.Now().waiting, 1);
  EXPECT_EQ(hall.scheduler.Now().bytes_reserved, 70u);
  hall.runner.Open();
  hall.WaitForDone(2);
}

TEST(Scheduler, ClientsTakeTurns) {
  Hall hall({.jobs_queued = 10, .workers = 1});
  hall.runner.Hold();
  std::vector<std::unique_ptr<Scheduler::Place>> places;
  for (const char* name : {"a1", "a2", "a3", "b1", "b2"}) {
    places.push_back(hall.MustAdmit(std::string(1, name[0])));
    hall.Submit(*places.back(), name);
  }
  hall.runner.Open();
  hall.WaitForDone(5);
  EXPECT_EQ(hall.started, (std::vector<std::string>{"a1", "b1", "a2", "b2", "a3"}));
}

TEST(Scheduler, DrainRefusesWhatWaitsAndLetsWhatRunsFinish) {
  Hall hall({.jobs_queued = 10, .workers = 1});
  hall.runner.Hold();
  const auto running = hall.MustAdmit("a");
  const auto waiting = hall.MustAdmit("a");
  const auto uploading = hall.MustAdmit("a");
  hall.Submit(*running, "running");
  hall.Submit(*waiting, "waiting");
  ASSERT_TRUE(hall.runner.WaitForStarts(1));
  hall.scheduler.Drain();
  hall.Submit(*uploading, "uploading");
  hall.WaitForDone(2);
  EXPECT_EQ(hall.errors["waiting"].reason, "DRAINING");
  EXPECT_EQ(hall.errors["waiting"].code, Code::kUnavailable);
  EXPECT_EQ(hall.errors["uploading"].reason, "DRAINING");
  EXPECT_EQ(hall.scheduler.Admit("a", kSmall).error().error->reason, "DRAINING");
  hall.runner.Open();
  hall.WaitForDone(3);
  EXPECT_FALSE(hall.errors.contains("running"));
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
    auto place = scheduler.Admit("a", kSmall);
    std::promise<Result<job::Outcome>> promise;
    scheduler.Submit(**place, {.done = [&](Result<job::Outcome> outcome) {
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
  Hall hall({.jobs_queued = 1000, .workers = 2});
  std::vector<std::thread> callers;
  std::mutex mutex;
  std::vector<std::unique_ptr<Scheduler::Place>> places;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 50; ++i) {
        auto place = hall.MustAdmit(std::to_string(caller));
        hall.Submit(*place, fmt::format("{}-{}", caller, i));
        if (i % 5 == 0) hall.scheduler.Cancel(*place);
        std::lock_guard lock(mutex);
        places.push_back(std::move(place));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  hall.WaitForDone(200);
  EXPECT_EQ(hall.scheduler.Now().running, 0);
  places.clear();
  EXPECT_EQ(hall.scheduler.Now().bytes_reserved, 0u);
}

}  // namespace
}  // namespace octavo::server
