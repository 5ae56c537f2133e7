// SPDX-License-Identifier: Apache-2.0
#include "server/store/database.h"

#include <fstream>
#include <thread>
#include <vector>

#include "server/store/result_index.h"
#include "tests/server/store/test_folder.h"

namespace octavo::server {
namespace {

constexpr const char* kTable[] = {"CREATE TABLE t (x INTEGER UNIQUE NOT NULL)"};
constexpr const char* kColumn[] = {"ALTER TABLE t ADD COLUMN y INTEGER NOT NULL DEFAULT 7",
                                   "UPDATE t SET x = x + 100"};
constexpr Database::Migration kTwo[] = {kTable, kColumn};
constexpr auto kOne = std::span(kTwo).first(1);

struct TestDatabase {
  TestFolder folder = {};
  std::string path = folder.path() + "/t.db";
  std::unique_ptr<Database> database = Database::Open(path, kOne).value();

  Status Insert(int64_t x) {
    return database->Write(
        [x](Connection& to) { return to.Run("INSERT INTO t (x) VALUES (?1)", {x}); });
  }
  std::vector<int64_t> All() const { return AllOf(*database, "SELECT x FROM t ORDER BY x"); }
  static std::vector<int64_t> AllOf(const Database& database, const char* query) {
    std::vector<int64_t> found;
    EXPECT_TRUE(database.Read([&](Connection& from) {
      return from.Run(query, {}, [&](const SqlRow& row) { found.push_back(row.Int(0)); });
    }));
    return found;
  }
};

TEST(Database, a_change_is_there_when_write_returns) {
  const TestDatabase test;
  ASSERT_TRUE(const_cast<TestDatabase&>(test).Insert(3));
  EXPECT_EQ(test.All(), std::vector<int64_t>{3});
}

TEST(Database, waits_for_the_disk) {
  const TestDatabase test;
  EXPECT_EQ(TestDatabase::AllOf(*test.database, "PRAGMA synchronous"), std::vector<int64_t>{2});
  std::string mode;
  ASSERT_TRUE(test.database->Read([&](Connection& from) {
    return from.Run("PRAGMA journal_mode", {}, [&](const SqlRow& row) { mode = row.Text(0); });
  }));
  EXPECT_EQ(mode, "wal");
}

TEST(Database, a_failed_change_changes_nothing_and_spoils_no_other) {
  TestDatabase test;
  ASSERT_TRUE(test.Insert(1));
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      failed += !test.database->Write([i](Connection& to) -> Status {
        OCTAVO_CHECK(to.Run("INSERT INTO t (x) VALUES (?1)", {int64_t{10 + i}}));
        if (i % 2 == 0) return to.Run("INSERT INTO t (x) VALUES (1)");
        return {};
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 4);
  EXPECT_EQ(test.All(), (std::vector<int64_t>{1, 11, 13, 15, 17}));
}

TEST(Database, later_writes_are_done_before_it_closes) {
  TestDatabase test;
  test.database->WriteLater([](Connection& to) { return to.Run("INSERT INTO t (x) VALUES (5)"); });
  test.database = nullptr;
  test.database = Database::Open(test.path, kOne).value();
  EXPECT_EQ(test.All(), std::vector<int64_t>{5});
}

TEST(Database, migrates_forward_and_never_back) {
  TestDatabase test;
  ASSERT_TRUE(test.Insert(1));
  test.database = nullptr;
  test.database = Database::Open(test.path, kTwo).value();
  EXPECT_EQ(test.All(), std::vector<int64_t>{101});
  EXPECT_EQ(TestDatabase::AllOf(*test.database, "SELECT y FROM t"), std::vector<int64_t>{7});
  test.database = nullptr;
  const auto older = Database::Open(test.path, kOne);
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, Code::kUsage);
  EXPECT_NE(older.error().message.find("version 2"), std::string::npos);
}

TEST(Database, a_migration_that_dies_starts_again) {
  TestDatabase test;
  ASSERT_TRUE(test.Insert(1));
  test.database = nullptr;
  EXPECT_TRUE(WasKilled(InChild([&] {
    return SetFailpoint("database.migrate:kill") && Database::Open(test.path, kTwo).has_value();
  })));
  test.database = Database::Open(test.path, kTwo).value();
  EXPECT_EQ(test.All(), std::vector<int64_t>{101});
}

TEST(Database, refuses_a_file_that_is_none) {
  const TestFolder folder;
  const std::string path = folder.path() + "/x.db";
  std::ofstream(path) << std::string(8192, 'x');
  const auto opened = Database::Open(path, kOne);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kUsage);
  EXPECT_EQ(opened.error().field, "--state-dir");
}

TEST(Database, errors_of_the_medium_are_storage_and_heal) {
  for (const char* point : {"begin", "commit"}) {
    TestDatabase test;
    {
      const ScopedFailpoint failpoint(fmt::format("database.{}:enospc", point));
      const auto failed = test.Insert(1);
      ASSERT_FALSE(failed);
      EXPECT_EQ(failed.error().reason, "STORAGE");
    }
    EXPECT_TRUE(test.Insert(2));
    EXPECT_EQ(test.All(), std::vector<int64_t>{2});
  }
}

// What was acknowledged before kill -9 is there, whole, at each step of a transaction.
TEST(Database, survives_death_at_every_step) {
  for (const FailpointInfo& info : Failpoints()) {
    if (!info.name.starts_with("database.") || info.name == "database.migrate") continue;
    const TestFolder folder;
    const std::string path = folder.path() + "/octavo.db";
    const StoredResult result = {.blobs = {{.role = 6, .name = "m", .digest = {"d", 3}}},
                                 .message = "x"};
    EXPECT_TRUE(WasKilled(InChild([&] {
      const auto database = Database::Open(path);
      ResultIndex index(**database);
      return index.Put("kept", result) && SetFailpoint(fmt::format("{}:kill", info.name)) &&
             index.Put("last", result);
    }))) << info.name;
    const auto database = Database::Open(path);
    ASSERT_TRUE(database) << info.name;
    ResultIndex index(**database);
    EXPECT_EQ(index.Find("kept").value(), result) << info.name;
    const auto last = index.Find("last").value();
    EXPECT_EQ(last.has_value(), info.name == "database.done") << info.name;
    if (last) {
      EXPECT_EQ(*last, result);
    }
  }
}

TEST(ResultIndex, keeps_replaces_and_removes) {
  const TestFolder folder;
  auto database = Database::Open(folder.path() + "/octavo.db").value();
  ResultIndex index(*database);
  EXPECT_EQ(index.Find("a").value(), std::nullopt);
  const StoredResult first = {
      .blobs = {{.role = 6, .name = "m", .digest = {"d", 3}},
                {.role = 7, .name = "report.json", .digest = {"e", uint64_t{5} << 32}}},
      .gate_failed = true,
      .message = "done"};
  ASSERT_TRUE(index.Put("a", first));
  EXPECT_EQ(index.Find("a").value(), first);
  const StoredResult second = {.blobs = {{.role = 6, .name = "n", .digest = {"f", 0}}}};
  ASSERT_TRUE(index.Put("a", second));
  EXPECT_EQ(index.Find("a").value(), second);
  ASSERT_TRUE(index.Remove("a"));
  database = nullptr;
  database = Database::Open(folder.path() + "/octavo.db").value();
  EXPECT_EQ(ResultIndex(*database).Find("a").value(), std::nullopt);
}

TEST(ResultIndex, is_bounded) {
  const TestFolder folder;
  const auto database = Database::Open(folder.path() + "/octavo.db").value();
  ResultIndex index(*database, /*most=*/3);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(index.Put(fmt::format("a{}", i), {.blobs = {{.name = "m"}}}));
    usleep(2000);
  }
  EXPECT_EQ(index.Find("a1").value(), std::nullopt);
  EXPECT_TRUE(index.Find("a2").value().has_value());
  EXPECT_TRUE(index.Find("a4").value().has_value());
}

}  // namespace
}  // namespace octavo::server
