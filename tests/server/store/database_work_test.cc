// SPDX-License-Identifier: Apache-2.0
// What a step costs must not grow with what the database has: one thread writes for all.  Counted
// in SQLite's instructions, not in time.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <memory>
#include <string>

#include "server/store/job_store.h"
#include "server/store/migrations.h"
#include "server/store/result_index.h"
#include "tests/server/store/test_folder.h"

namespace octavo::server {
namespace {

constexpr int64_t kMany = 5000;
constexpr int64_t kJobBytes = 1024;  // of one without a spec
// Of a B-tree of a few pages more.
constexpr int64_t kTolerance = 300;

constexpr std::string_view kResults =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
    " INSERT INTO results SELECT 'r' || i, 0, '', i FROM n";
constexpr std::string_view kEndedJobs =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
    " INSERT INTO jobs (job_id, request_id, client, model, action, spec, priority, detached,"
    " state, attempt, created, started, ended, sequence, stage, pass, done, total, gate_failed,"
    " message) SELECT 'j' || i, '', '', '', '', '', 0, 0, 2, 1, i, i, i, 1, '', '', 1, 1, 0, ''"
    " FROM n";

// Counts the instructions of all connections that are opened while it exists.
class Instructions {
 public:
  Instructions() { sqlite3_auto_extension(Entry()); }
  ~Instructions() { sqlite3_cancel_auto_extension(Entry()); }
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;

  template <typename Step>
  static int64_t Of(Step step) {
    const int64_t before = count_;
    step();
    return count_ - before;
  }

 private:
  static int CountOne(void*) {
    ++count_;
    return 0;
  }
  static int Begin(sqlite3* connection) {
    sqlite3_progress_handler(connection, 1, &CountOne, nullptr);
    return SQLITE_OK;
  }
  static void (*Entry())() { return reinterpret_cast<void (*)()>(&Begin); }
  inline static std::atomic<int64_t> count_ = 0;
};

struct Stored {
  Instructions counted = {};
  TestFolder folder = {};
  std::string path = folder.path() + "/octavo.db";
  std::unique_ptr<Database> database = Database::Open(path).value();

  void Fill(std::string_view statement, int64_t count) const {
    ASSERT_TRUE(database->Write([&](Connection& to) { return to.Run(statement, {count}); }));
  }
  int64_t Count(std::string_view table) const {
    int64_t count = -1;
    EXPECT_TRUE(database->Read([&](Connection& from) {
      return from.Run(fmt::format("SELECT COUNT(*) FROM {}", table), {},
                      [&](const SqlRow& row) { count = row.Int(0); });
    }));
    return count;
  }
};

int64_t WorkOfPut(int64_t kept, uint64_t most) {
  const Stored stored;
  stored.Fill(kResults, kept);
  ResultIndex index(*stored.database, most);
  return Instructions::Of([&] { EXPECT_TRUE(index.Put("new", {.blobs = {{.name = "m"}}})); });
}

TEST(DatabaseWork, keeping_a_result_costs_the_same_among_many) {
  EXPECT_LE(WorkOfPut(kMany, 100'000), WorkOfPut(10, 100'000) + kTolerance);
  EXPECT_LE(WorkOfPut(kMany, kMany), WorkOfPut(10, 10) + kTolerance);
}

int64_t WorkOfForget(int64_t ended, int64_t most) {
  const Stored stored;
  stored.Fill(kEndedJobs, ended);
  const auto journal = MakeJobStore(*stored.database);
  return Instructions::Of([&] {
    const auto forgotten = journal->Forget({}, static_cast<uint64_t>(most));
    ASSERT_TRUE(forgotten);
    EXPECT_EQ(forgotten->size(), most < ended * kJobBytes ? 1u : 0u);
  });
}

TEST(DatabaseWork, forgetting_jobs_costs_the_same_among_many) {
  EXPECT_LE(WorkOfForget(kMany, kMany * kJobBytes), WorkOfForget(10, 10 * kJobBytes) + kTolerance);
  EXPECT_LE(WorkOfForget(kMany, kMany * kJobBytes - 1),
            WorkOfForget(10, 10 * kJobBytes - 1) + kTolerance);
}

// The limits hold for what an earlier version has written.
TEST(DatabaseWork, a_database_of_version_2_is_counted) {
  Stored stored;
  stored.database = nullptr;
  const std::string path = stored.folder.path() + "/old.db";
  stored.database = Database::Open(path, Migrations().first(2)).value();
  stored.Fill(kResults, 10);
  stored.Fill(kEndedJobs, 10);
  stored.database = nullptr;
  stored.database = Database::Open(path).value();

  ResultIndex index(*stored.database, /*most=*/4);
  ASSERT_TRUE(index.Put("new", {}));
  EXPECT_EQ(stored.Count("results"), 4);
  EXPECT_TRUE(index.Find("r10").value().has_value());
  const auto journal = MakeJobStore(*stored.database);
  EXPECT_EQ(journal->Forget({}, 3 * kJobBytes)->size(), 7u);
  EXPECT_EQ(stored.Count("jobs"), 3);
}

}  // namespace
}  // namespace octavo::server
