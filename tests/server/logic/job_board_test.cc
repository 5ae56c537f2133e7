// SPDX-License-Identifier: Apache-2.0
// Jobs that outlive their calls and, with the same journal, their service.
#include "server/session/job_board.h"

#include <future>
#include <thread>

#include "tests/server/logic/fake_transport.h"
#include "tests/server/store/memory_blob_store.h"
#include "tests/server/store/memory_job_store.h"
#include "tests/server/store/test_folder.h"

namespace octavo::server {
namespace {

using std::chrono::milliseconds;

// Fails to write ends while `broken`.
class FragileJobStore : public MemoryJobStore {
 public:
  using MemoryJobStore::MemoryJobStore;
  Status Finish(const std::string& job_id, const JobEnd& end) override {
    if (broken) return Fail(Code::kResourceExhausted, "no space").Reason("STORAGE");
    return MemoryJobStore::Finish(job_id, end);
  }
  std::atomic<bool> broken = false;
};

// What outlives a service.
struct Folder {
  TestFolder folder;
  MemoryBlobStore blobs;
  std::unique_ptr<Database> database = Database::Open(folder.path() + "/octavo.db").value();
  ResultIndex index{*database};
  ResultCache cache{blobs, index};
  FragileJobStore journal{[] { return std::chrono::system_clock::now(); }};
};

constexpr size_t kMostJobs = 120;

Limits OneWorker() { return {.workers = 1, .keep_jobs = std::chrono::hours(1)}; }

// The spec in the journal is the model.
JobSpec SpecOf(const std::string& model) {
  JobSpec spec = Fixture::SpecOf(model);
  spec.action_digest = "sha256:" + model;
  return spec;
}

struct Service {
  explicit Service(Folder& given, const Limits& limits = OneWorker())
      : folder(given), fixture(limits) {
    fixture.services.results = &folder.cache;
    fixture.services.blobs = &folder.blobs;
    fixture.flights.KeepIn(folder.cache);
    board = JobBoard::Start({.limits = limits,
                             .journal = folder.journal,
                             .blobs = folder.blobs,
                             .results = folder.cache,
                             .scheduler = fixture.scheduler,
                             .flights = fixture.flights,
                             .disk = fixture.disk,
                             .loop = fixture.loop,
                             .probe = fixture.probe,
                             .read_spec = [](const std::string& bytes) -> Result<JobSpec> {
                               return SpecOf(bytes);
                             },
                             .most_jobs = kMostJobs})
                .value();
    fixture.services.board = board;
  }
  // Without a drain: what runs is interrupted.
  ~Service() {
    board->Stop();
    fixture.scheduler.StopAll();
  }

  // The value of `step` in a step of the board.
  template <class Step>
  auto Do(Step step) {
    std::promise<decltype(step(*board))> value;
    board->Post([&](JobBoard& all) { value.set_value(step(all)); });
    return value.get_future().get();
  }
  tl::expected<JobView, CallStatus> Submit(const std::string& id, const std::string& model,
                                           const std::string& client = "c", int priority = 0,
                                           const std::string& request_id = "") {
    const BlobDigest digest = {.sha256 = Sha256Of(model), .size_bytes = model.size()};
    EXPECT_TRUE(StoreBytes(folder.blobs, digest, Blob(model)));
    return Do([&](JobBoard& all) {
      return all.Submit({.job_id = id,
                         .request_id = request_id,
                         .client = client,
                         .spec = model,
                         .priority = priority},
                        SpecOf(model));
    });
  }
  JobRecord Get(const std::string& id) {
    return Do([&](JobBoard& all) { return all.Find(id); }).value().record;
  }
  testing::AssertionResult WaitFor(const std::string& id, JobState state) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    JobRecord record = Get(id);
    while (record.state != state) {
      if (std::chrono::steady_clock::now() > end) {
        return testing::AssertionFailure() << id << " is " << NameOf(record.state);
      }
      std::this_thread::sleep_for(milliseconds(2));
      record = Get(id);
    }
    return testing::AssertionSuccess();
  }

  Folder& folder;
  Fixture fixture;
  std::shared_ptr<JobBoard> board;
};

TEST(JobBoard, a_job_runs_without_a_call_and_its_result_is_kept) {
  Folder folder;
  Service service(folder);
  const auto submitted = service.Submit("j", "model");
  ASSERT_TRUE(submitted);
  EXPECT_EQ(submitted->record.job.model, "m.onnx");
  ASSERT_TRUE(service.WaitFor("j", JobState::kSucceeded));
  const JobRecord job = service.Get("j");
  EXPECT_EQ(job.attempt, 1);
  ASSERT_EQ(job.result.blobs.size(), 2u);
  const auto model = folder.blobs.Open(job.result.blobs[0].digest, Check::kAlways).value();
  ASSERT_TRUE(model);
  EXPECT_EQ(model->Map()->text(), "ledom");
  EXPECT_EQ(service.fixture.probe.outcomes(JobOutcome::kSucceeded), 1);
  EXPECT_EQ(service.Get("sha256:model").job.job_id, "j");
}

TEST(JobBoard, blobs_that_the_store_lacks_are_named) {
  Folder folder;
  Service service(folder);
  const auto refused = service.Do([](JobBoard& all) {
    return all.Submit({.job_id = "j", .client = "c", .spec = "model"}, SpecOf("model"));
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error->reason, "MISSING_BLOBS");
  EXPECT_EQ(refused.error().missing, std::vector<std::string>{Sha256Of("model")});
  EXPECT_FALSE(service.Do([](JobBoard& all) { return all.Find("j"); }));
}

TEST(JobBoard, a_second_request_with_an_id_gets_the_first_ones_job) {
  Folder folder;
  Service service(folder);
  ASSERT_TRUE(service.Submit("j1", "model", "c", 0, "request"));
  EXPECT_EQ(service.Submit("j2", "model", "c", 0, "request")->record.job.job_id, "j1");
  EXPECT_EQ(service.Submit("j3", "model", "d", 0, "request")->record.job.job_id, "j3");
}

TEST(JobBoard, an_equal_job_is_answered_from_the_kept_result) {
  Folder folder;
  Service service(folder);
  ASSERT_TRUE(service.Submit("j1", "model"));
  ASSERT_TRUE(service.WaitFor("j1", JobState::kSucceeded));
  ASSERT_TRUE(service.Submit("j2", "model"));
  ASSERT_TRUE(service.WaitFor("j2", JobState::kSucceeded));
  EXPECT_EQ(service.fixture.runner.started(), 1);
  EXPECT_EQ(service.Get("j2").result, service.Get("j1").result);
}

TEST(JobBoard, the_next_process_ends_what_this_one_acknowledged) {
  Folder folder;
  {
    Service service(folder);
    service.fixture.runner.Hold();
    ASSERT_TRUE(service.Submit("running", "r"));
    ASSERT_TRUE(service.fixture.runner.WaitForStarts(1));
    ASSERT_TRUE(service.WaitFor("running", JobState::kRunning));
    ASSERT_TRUE(service.Submit("waiting", "w"));
  }
  Service service(folder);
  EXPECT_EQ(service.fixture.probe.recovered, 2u);
  for (const char* id : {"running", "waiting"}) {
    ASSERT_TRUE(service.WaitFor(id, JobState::kSucceeded));
  }
  EXPECT_EQ(service.Get("running").attempt, 2);
  EXPECT_EQ(service.Get("waiting").attempt, 1);
}

TEST(JobBoard, a_client_with_one_job_waits_for_two_others_at_most) {
  Folder folder;
  Service service(folder);
  service.fixture.runner.Hold();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(service.Submit(fmt::format("many{}", i), fmt::format("m{}", i), "many"));
  }
  ASSERT_TRUE(service.Submit("one", "o", "one"));
  int ended_before = -1;
  const auto watch = service.Do([&](JobBoard& all) {
    return all.WatchJob("one", [&](JobBoard& board) {
      if (ended_before >= 0) return;
      ended_before =
          static_cast<int>(board.List({.state = JobState::kSucceeded}).value().jobs.size());
    });
  });
  service.fixture.runner.Open();
  ASSERT_TRUE(service.WaitFor("one", JobState::kSucceeded));
  EXPECT_LE(ended_before, 2);
}

TEST(JobBoard, priority_orders_a_clients_jobs) {
  Folder folder;
  Service service(folder);
  service.fixture.runner.Hold();
  ASSERT_TRUE(service.Submit("first", "f"));
  ASSERT_TRUE(service.Submit("low", "l", "c", -5));
  const auto high = service.Submit("high", "h", "c", 5);
  EXPECT_EQ(high->queue_position, 0u);
  service.fixture.runner.Open();
  ASSERT_TRUE(service.WaitFor("low", JobState::kSucceeded));
  EXPECT_LE(service.Get("high").ended, service.Get("low").ended);
  EXPECT_LE(service.Get("high").started, service.Get("low").started);
}

TEST(JobBoard, cancel_ends_a_waiting_and_a_running_job) {
  Folder folder;
  Service service(folder);
  service.fixture.runner.Hold();
  ASSERT_TRUE(service.Submit("running", "r"));
  ASSERT_TRUE(service.fixture.runner.WaitForStarts(1));
  ASSERT_TRUE(service.Submit("waiting", "w"));
  for (const char* id : {"waiting", "running"}) {
    const auto cancelled = service.Do([&](JobBoard& all) { return all.Cancel(id); });
    ASSERT_TRUE(cancelled);
    EXPECT_EQ(cancelled->record.state, JobState::kCancelled);
    EXPECT_FALSE(service.Do([&](JobBoard& all) { return all.Cancel(id); }));
  }
  service.fixture.runner.Open();
  ASSERT_TRUE(service.Submit("next", "n"));
  ASSERT_TRUE(service.WaitFor("next", JobState::kSucceeded));
}

TEST(JobBoard, a_drain_leaves_jobs_to_the_next_process_without_counting_an_attempt) {
  Folder folder;
  {
    Service service(folder);
    service.fixture.runner.Hold();
    ASSERT_TRUE(service.Submit("running", "r"));
    ASSERT_TRUE(service.WaitFor("running", JobState::kRunning));
    ASSERT_TRUE(service.Submit("waiting", "w"));
    service.fixture.scheduler.Drain();
    const auto late = service.Submit("late", "l");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().error->reason, "DRAINING");
    service.fixture.scheduler.StopAll();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (folder.journal.Find("running").value()->state != JobState::kQueued) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
  EXPECT_EQ(folder.journal.Find("running").value()->attempt, 0);
  EXPECT_EQ(folder.journal.Find("waiting").value()->state, JobState::kQueued);
  Service service(folder);
  ASSERT_TRUE(service.WaitFor("running", JobState::kSucceeded));
  ASSERT_TRUE(service.WaitFor("waiting", JobState::kSucceeded));
}

TEST(JobBoard, an_end_that_the_journal_cannot_take_is_written_later) {
  Folder folder;
  Service service(folder);
  folder.journal.broken = true;
  ASSERT_TRUE(service.Submit("j", "model"));
  ASSERT_TRUE(service.WaitFor("j", JobState::kSucceeded));
  EXPECT_EQ(folder.journal.Find("j").value()->state, JobState::kRunning);
  folder.journal.broken = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (folder.journal.Find("j").value()->state != JobState::kSucceeded) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(milliseconds(2));
  }
}

TEST(JobBoard, an_acknowledged_job_waits_while_others_use_the_memory) {
  Folder folder;
  Service service(folder);
  ASSERT_TRUE(service.Submit("j", "busy"));
  ASSERT_TRUE(service.WaitFor("j", JobState::kSucceeded));
  EXPECT_EQ(service.fixture.runner.started(), 2);
  EXPECT_EQ(service.Get("j").attempt, 1);
}

TEST(JobBoard, a_client_may_have_as_many_jobs_as_are_left_for_others) {
  Folder folder;
  Service service(folder);
  service.fixture.runner.Hold();
  const std::string model = "m";
  ASSERT_TRUE(StoreBytes(folder.blobs, {Sha256Of(model), 1}, Blob(model)));
  std::optional<CallStatus> refused;
  size_t count = 0;
  service.Do([&](JobBoard& all) {
    for (; !refused && count <= kMostJobs; ++count) {
      auto view = all.Submit({.job_id = fmt::format("{}", count), .client = "c"}, SpecOf(model));
      if (!view) refused = view.error();
    }
    return 0;
  });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error->reason, "OVERLOADED");
  EXPECT_TRUE(refused->retry_after);
  EXPECT_EQ(count, kMostJobs / 2 + 1);
  EXPECT_TRUE(service.Submit("other", model, "other"));
}

TEST(JobBoard, results_stay_in_a_full_store_until_their_job_is_deleted) {
  Folder folder;
  Limits limits = OneWorker();
  limits.store_bytes = 10;
  Service service(folder, limits);
  ASSERT_TRUE(service.Submit("j", "model"));
  ASSERT_TRUE(service.WaitFor("j", JobState::kSucceeded));
  const auto refused = service.Submit("k", "other");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error->reason, "STORAGE");
  EXPECT_TRUE(refused.error().retry_after);
  ASSERT_TRUE(service.Do([](JobBoard& all) { return all.Delete("j"); }));
  EXPECT_TRUE(service.Submit("k", "other"));
}

TEST(JobBoard, a_call_is_listed_and_another_call_can_cancel_it) {
  Folder folder;
  Service service(folder);
  service.fixture.runner.Hold();
  FakeTransport call;
  service.fixture.Open(call);
  call.session->SpecArrived(SpecOf("model"));
  ASSERT_TRUE(call.WaitForReads(2));
  call.session->ChunkArrived(0, 0, "model");
  ASSERT_TRUE(service.fixture.runner.WaitForStarts(1));
  const std::string id = call.Events<Accepted>().at(0).job_id;
  ASSERT_TRUE(service.WaitFor(id, JobState::kRunning));
  EXPECT_FALSE(service.Get(id).job.detached);
  EXPECT_EQ(service.Get(id).job.model, "m.onnx");
  ASSERT_TRUE(service.Do([&](JobBoard& all) { return all.Cancel(id); }));
  const CallStatus status = call.WaitForEnd();
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->reason, "CANCELLED");
  EXPECT_EQ(service.Get(id).state, JobState::kCancelled);
}

TEST(JobBoard, a_call_that_succeeds_is_listed_with_its_result) {
  Folder folder;
  Service service(folder);
  FakeTransport call;
  service.fixture.Open(call);
  call.session->SpecArrived(SpecOf("model"));
  ASSERT_TRUE(call.WaitForReads(2));
  call.session->ChunkArrived(0, 0, "model");
  ASSERT_FALSE(call.WaitForEnd().error);
  const std::string id = call.Events<Accepted>().at(0).job_id;
  ASSERT_TRUE(service.WaitFor(id, JobState::kSucceeded));
  EXPECT_EQ(service.Get(id).result.blobs.size(), 2u);
}

TEST(JobBoard, a_watch_sees_every_end_and_ended_jobs_are_not_watched) {
  Folder folder;
  Service service(folder);
  service.fixture.runner.Hold();
  ASSERT_TRUE(service.Submit("j", "model"));
  std::optional<JobState> end;
  const auto watch = service.Do([&](JobBoard& all) {
    return all.WatchJob("j", [&](JobBoard& board) {
      const JobRecord record = board.Find("j").value().record;
      if (HasEnded(record)) end = record.state;
    });
  });
  service.fixture.runner.Open();
  ASSERT_TRUE(service.WaitFor("j", JobState::kSucceeded));
  EXPECT_EQ(end, JobState::kSucceeded);
}

}  // namespace
}  // namespace octavo::server
