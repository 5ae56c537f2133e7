// SPDX-License-Identifier: Apache-2.0
// What every journal must do.
#include <thread>

#include "tests/server/store/memory_job_store.h"
#include "tests/server/store/test_folder.h"

namespace octavo::server {
namespace {

using std::chrono::hours;

struct Journal {
  std::unique_ptr<Database> database = {};
  std::unique_ptr<JobStore> store = {};
};

struct JournalFactory {
  std::string name = {};
  std::function<Journal(const std::string& folder, JobClock)> make = {};
};

const JournalFactory kFactories[] = {
    {"memory",
     [](const std::string&, JobClock now) {
       return Journal{.store = std::make_unique<MemoryJobStore>(std::move(now))};
     }},
    {"sqlite",
     [](const std::string& folder, JobClock now) {
       Journal journal{.database = Database::Open(folder + "/octavo.db").value()};
       journal.store = MakeJobStore(*journal.database, std::move(now));
       return journal;
     }},
};

class JobStoreContract : public testing::TestWithParam<JournalFactory> {
 protected:
  JobStoreContract()
      : journal_(GetParam().make(folder_.path(), [this] { return now_; })),
        store_(*journal_.store) {}

  std::string Create(const std::string& id, bool detached = true) {
    EXPECT_TRUE(store_.Create({.job_id = id, .client = "c", .action = "a", .detached = detached}));
    return id;
  }
  JobRecord Get(const std::string& id) { return store_.Find(id).value().value(); }

  const TestFolder folder_;
  std::chrono::system_clock::time_point now_{hours(1'000'000)};
  Journal journal_;
  JobStore& store_;
};

INSTANTIATE_TEST_SUITE_P(Store, JobStoreContract, testing::ValuesIn(kFactories),
                         [](const auto& info) { return info.param.name; });

JobTime Rounded(std::chrono::system_clock::time_point time) {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(time);
}

TEST_P(JobStoreContract, keeps_every_field) {
  const NewJob job = {.job_id = "j1",
                      .request_id = "r",
                      .client = "10.0.0.1",
                      .model = "m\x1b.onnx",
                      .action = "sha256:00",
                      .spec = std::string("\0\xff spec", 7),
                      .priority = -3,
                      .detached = true,
                      .labels = {"a", "b=c"}};
  JobRecord expected = {.job = job, .created = Rounded(now_)};
  EXPECT_EQ(store_.Create(job).value(), expected);
  EXPECT_EQ(Get("j1"), expected);

  now_ += std::chrono::milliseconds(1500);
  ASSERT_TRUE(store_.Start("j1"));
  expected.state = JobState::kRunning;
  expected.attempt = 1;
  expected.started = Rounded(now_);
  EXPECT_EQ(Get("j1"), expected);

  const JobProgress progress = {
      .sequence = 7, .stage = "passes", .pass = "quantize", .done = 3, .total = 11};
  store_.Advance("j1", progress);
  now_ += std::chrono::seconds(2);
  const JobEnd end = {
      .result = {
          .blobs = {{.role = 6, .name = "out.onnx", .digest = {std::string(64, 'a'), 1 << 30}},
                    {.role = 7, .name = "report.json", .digest = {std::string(64, 'b'), 9}}},
          .gate_failed = true,
          .message = "42 nodes"}};
  ASSERT_TRUE(store_.Finish("j1", end));
  expected.state = JobState::kSucceeded;
  expected.ended = Rounded(now_);
  expected.progress = progress;
  expected.result = end.result;
  EXPECT_EQ(Get("j1"), expected);
}

TEST_P(JobStoreContract, keeps_why_a_job_failed) {
  Create("j1");
  const Error error = {.code = Code::kUnimplemented,
                       .message = "no",
                       .reason = "UNSUPPORTED",
                       .node = "n",
                       .field = "f"};
  ASSERT_TRUE(store_.Finish("j1", {.state = JobState::kFailed, .error = error}));
  EXPECT_EQ(Get("j1").error, error);
  EXPECT_EQ(Get("j1").state, JobState::kFailed);
}

TEST_P(JobStoreContract, a_job_moves_forward_only) {
  EXPECT_EQ(store_.Start("none").error().reason, "NOT_FOUND");
  EXPECT_EQ(store_.Finish("none", {}).error().reason, "NOT_FOUND");
  EXPECT_EQ(store_.Delete("none").error().reason, "NOT_FOUND");
  EXPECT_EQ(store_.Find("none").value(), std::nullopt);
  Create("j1");
  EXPECT_FALSE(store_.Delete("j1"));
  store_.Advance("j1", {.sequence = 1});
  EXPECT_EQ(Get("j1").progress.sequence, 0u);  // it does not run
  ASSERT_TRUE(store_.Start("j1"));
  EXPECT_FALSE(store_.Start("j1"));
  EXPECT_FALSE(store_.Delete("j1"));
  ASSERT_TRUE(store_.Finish("j1", {.state = JobState::kCancelled}));
  const auto again = store_.Finish("j1", {});
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("is cancelled"), std::string::npos);
  EXPECT_FALSE(store_.Start("j1"));
  EXPECT_TRUE(store_.Delete("j1"));
  EXPECT_EQ(store_.Find("j1").value(), std::nullopt);
}

TEST_P(JobStoreContract, a_request_id_names_one_job_for_a_day) {
  const auto create = [&](const std::string& id, const std::string& client) {
    return store_.Create({.job_id = id, .request_id = "r", .client = client}).value().job.job_id;
  };
  EXPECT_EQ(create("j1", "c"), "j1");
  EXPECT_EQ(create("j2", "c"), "j1");
  EXPECT_EQ(create("j3", "d"), "j3");
  now_ += hours(25);
  EXPECT_EQ(create("j4", "c"), "j4");
  EXPECT_EQ(store_.List({}).value().jobs.size(), 3u);
}

TEST_P(JobStoreContract, lists_by_pages_newest_first) {
  for (int i = 0; i < 25; ++i) {
    ASSERT_TRUE(
        store_.Create({.job_id = fmt::format("j{}", i), .labels = {i % 2 == 0 ? "even" : "odd"}}));
    if (i % 5 == 0) {
      ASSERT_TRUE(store_.Start(fmt::format("j{}", i)));
    }
  }
  const auto all = [&](JobFilter filter) {
    std::vector<std::string> ids;
    do {
      const JobPage page = store_.List(filter).value();
      EXPECT_LE(page.jobs.size(), static_cast<size_t>(filter.page_size));
      for (const JobRecord& job : page.jobs) ids.push_back(job.job.job_id);
      filter.page_token = page.next_page_token;
    } while (!filter.page_token.empty());
    return ids;
  };
  const auto every = all({.page_size = 7});
  ASSERT_EQ(every.size(), 25u);
  EXPECT_EQ(every.front(), "j24");
  EXPECT_EQ(every.back(), "j0");
  EXPECT_EQ(all({.page_size = 25}), every);
  EXPECT_EQ(all({.state = JobState::kRunning, .page_size = 2}),
            (std::vector<std::string>{"j20", "j15", "j10", "j5", "j0"}));
  EXPECT_EQ(all({.state = JobState::kRunning, .label = "even"}),
            (std::vector<std::string>{"j20", "j10", "j0"}));
  EXPECT_EQ(all({.label = "none"}).size(), 0u);
  // A page does not move when jobs come.
  const JobPage first = store_.List({.page_size = 5}).value();
  Create("new");
  EXPECT_EQ(store_.List({.page_size = 5, .page_token = first.next_page_token})
                .value()
                .jobs.front()
                .job.job_id,
            "j19");
}

TEST_P(JobStoreContract, refuses_pages_that_cannot_be) {
  EXPECT_EQ(store_.List({.page_size = 0}).error().field, "page_size");
  EXPECT_EQ(store_.List({.page_size = 1001}).error().field, "page_size");
  EXPECT_EQ(store_.List({.page_token = "x"}).error().field, "page_token");
  EXPECT_EQ(store_.List({.page_token = std::string(40, '9')}).error().field, "page_token");
}

TEST_P(JobStoreContract, recovers_detached_jobs_with_two_attempts) {
  Create("first");
  Create("second");
  Create("call", /*detached=*/false);
  Create("ended");
  ASSERT_TRUE(store_.Finish("ended", {}));
  ASSERT_TRUE(store_.Start("second"));
  ASSERT_TRUE(store_.Start("call"));
  const auto ids = [&] {
    std::vector<std::string> found;
    const auto recovered = store_.Recover();
    for (const JobRecord& job : recovered.value()) found.push_back(job.job.job_id);
    return found;
  };
  EXPECT_EQ(ids(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(Get("second").state, JobState::kQueued);
  EXPECT_EQ(Get("second").attempt, 1);
  EXPECT_EQ(Get("call").state, JobState::kCancelled);
  EXPECT_EQ(Get("ended").state, JobState::kSucceeded);
  ASSERT_TRUE(store_.Start("second"));
  EXPECT_EQ(ids(), (std::vector<std::string>{"first"}));
  EXPECT_EQ(Get("second").state, JobState::kFailed);
  EXPECT_EQ(Get("second").error->reason, "WORKER_CRASHED");
  EXPECT_EQ(ids(), (std::vector<std::string>{"first"}));  // waiting is no attempt
}

TEST_P(JobStoreContract, an_attempt_that_is_queued_again_does_not_count) {
  Create("j");
  EXPECT_FALSE(store_.Requeue("j"));
  ASSERT_TRUE(store_.Start("j"));
  ASSERT_TRUE(store_.Requeue("j"));
  EXPECT_EQ(Get("j").state, JobState::kQueued);
  EXPECT_EQ(Get("j").attempt, 0);
  EXPECT_FALSE(store_.Requeue("none"));
}

TEST_P(JobStoreContract, deletes_what_ended_long_ago) {
  Create("old");
  Create("open");
  ASSERT_TRUE(store_.Finish("old", {}));
  now_ += hours(3);
  Create("new");
  ASSERT_TRUE(store_.Finish("new", {}));
  EXPECT_EQ(store_.Forget(Rounded(now_ - hours(1)), 1 << 20).value(),
            std::vector<std::string>{"old"});
  EXPECT_EQ(store_.Find("old").value(), std::nullopt);
  EXPECT_EQ(store_.List({}).value().jobs.size(), 2u);
}

TEST_P(JobStoreContract, forgets_the_oldest_ended_jobs_beyond_its_bytes) {
  for (const char* id : {"a", "b", "c", "open"}) {
    ASSERT_TRUE(store_.Create({.job_id = id, .spec = std::string(976, ' '), .detached = true}));
  }
  for (const char* id : {"b", "a", "c"}) {
    ASSERT_TRUE(store_.Finish(id, {}));
    now_ += hours(1);
  }
  EXPECT_EQ(store_.Forget({}, 6000).value(), std::vector<std::string>{});
  EXPECT_EQ(store_.Forget({}, 5999).value(), std::vector<std::string>{"b"});
  EXPECT_EQ(store_.Forget({}, 0).value().size(), 2u);
  EXPECT_EQ(store_.List({}).value().jobs.size(), 1u);
}

TEST_P(JobStoreContract, lists_the_jobs_of_an_action_newest_first) {
  for (const char* id : {"a1", "b1", "a2"}) {
    ASSERT_TRUE(store_.Create({.job_id = id, .action = std::string(1, id[0])}));
  }
  const JobPage page = store_.List({.action = "a", .page_size = 1}).value();
  ASSERT_EQ(page.jobs.size(), 1u);
  EXPECT_EQ(page.jobs[0].job.job_id, "a2");
  EXPECT_EQ(store_.List({.action = "a"}).value().jobs.size(), 2u);
  EXPECT_EQ(store_.List({.action = "c"}).value().jobs.size(), 0u);
}

TEST_P(JobStoreContract, lists_jobs_without_their_specs) {
  ASSERT_TRUE(store_.Create({.job_id = "j", .spec = "spec"}));
  EXPECT_EQ(store_.List({}).value().jobs.front().job.spec, "");
  EXPECT_EQ(Get("j").job.spec, "spec");
}

TEST_P(JobStoreContract, notes_a_job_that_is_not_detached) {
  JobRecord record = {.job = {.job_id = "call", .client = "c", .action = "a"},
                      .created = Rounded(now_)};
  store_.Note(record);
  Create("later");  // durable after what was noted before
  EXPECT_EQ(Get("call"), record);
  record.state = JobState::kSucceeded;
  record.attempt = 1;
  record.started = Rounded(now_ + hours(1));
  record.ended = Rounded(now_ + hours(2));
  record.result.blobs = {{.role = 1, .name = "m", .digest = {std::string(64, 'a'), 3}}};
  store_.Note(record);
  Create("last");
  EXPECT_EQ(Get("call"), record);
}

TEST_P(JobStoreContract, knows_the_results_of_detached_jobs) {
  const BlobDigest digest = {std::string(64, 'a'), 3};
  const BlobDigest other = {std::string(64, 'b'), 4};
  const StoredResult result = {.blobs = {{.role = 1, .digest = digest}, {.digest = other}}};
  Create("failed");
  Create("call", /*detached=*/false);
  Create("done");
  ASSERT_TRUE(store_.Finish("failed", {.state = JobState::kFailed}));
  ASSERT_TRUE(store_.Finish("call", {.result = result}));
  ASSERT_TRUE(store_.Finish("done", {.result = result}));
  EXPECT_EQ(store_.KeptBlobs().value(), (std::vector<JobBlobs>{{"done", {digest, other}}}));
}

TEST_P(JobStoreContract, an_action_that_crashed_twice_is_poisoned_for_a_day) {
  EXPECT_FALSE(store_.IsPoisoned("a").value());
  ASSERT_TRUE(store_.RecordCrash("a"));
  EXPECT_FALSE(store_.IsPoisoned("a").value());
  now_ += hours(20);
  ASSERT_TRUE(store_.RecordCrash("a"));
  EXPECT_TRUE(store_.IsPoisoned("a").value());
  EXPECT_FALSE(store_.IsPoisoned("b").value());
  now_ += hours(25);
  EXPECT_FALSE(store_.IsPoisoned("a").value());
  ASSERT_TRUE(store_.RecordCrash("a"));
  EXPECT_FALSE(store_.IsPoisoned("a").value());
}

TEST_P(JobStoreContract, serves_many_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string id = fmt::format("j{}-{}", t, i);
        EXPECT_TRUE(store_.Create({.job_id = id}));
        EXPECT_TRUE(store_.Start(id));
        store_.Advance(id, {.sequence = 1});
        EXPECT_TRUE(store_.Finish(id, {}));
        EXPECT_TRUE(store_.List({.page_size = 10}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store_.List({.state = JobState::kSucceeded}).value().jobs.size(), 80u);
}

}  // namespace
}  // namespace octavo::server
