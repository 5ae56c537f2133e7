// SPDX-License-Identifier: Apache-2.0
#include "server/store/result_cache.h"

#include "tests/server/store/disk_harness.h"

namespace octavo::server {
namespace {

struct Cache {
  explicit Cache(uint64_t limit_bytes = 1 << 20) : harness({.limit_bytes = limit_bytes}) {}

  Status Keep(const std::string& action, const std::vector<std::string>& contents) {
    StoredResult result = {.message = "of " + action};
    std::vector<Blob> bytes;
    for (const std::string& content : contents) {
      result.blobs.push_back({.role = 6, .name = "b", .digest = DigestOf(content)});
      bytes.emplace_back(content);
    }
    return cache.Keep(action, result, bytes);
  }

  DiskHarness harness;
  TestFolder folder;
  std::unique_ptr<Database> database = Database::Open(folder.path() + "/octavo.db").value();
  ResultIndex index{*database};
  ResultCache cache{harness.store(), index};
};

TEST(ResultCache, a_hit_is_the_whole_result) {
  Cache test;
  EXPECT_EQ(test.cache.Find("a").answer, CacheAnswer::kMiss);
  ASSERT_TRUE(test.Keep("a", {"model", "report"}));
  const auto found = test.cache.Find("a");
  ASSERT_EQ(found.answer, CacheAnswer::kHit);
  EXPECT_EQ(found.result.message, "of a");
  ASSERT_EQ(found.blobs.size(), 2u);
  EXPECT_EQ(ReadAll(found.blobs[0]), "model");
  EXPECT_EQ(ReadAll(found.blobs[1]), "report");
}

TEST(ResultCache, a_damaged_blob_makes_a_miss_until_it_is_computed_again) {
  Cache test;
  ASSERT_TRUE(test.Keep("a", {"model", "report"}));
  test.harness.Damage(DigestOf("report"));
  const auto damaged = test.cache.Find("a");
  EXPECT_EQ(damaged.answer, CacheAnswer::kCorrupt);
  EXPECT_TRUE(damaged.blobs.empty());
  EXPECT_EQ(test.cache.Find("a").answer, CacheAnswer::kMiss);
  ASSERT_TRUE(test.Keep("a", {"model", "report"}));
  EXPECT_EQ(test.cache.Find("a").answer, CacheAnswer::kHit);
}

TEST(ResultCache, an_evicted_blob_makes_the_result_incomplete) {
  Cache test(/*limit_bytes=*/12);
  ASSERT_TRUE(test.Keep("a", {"aaaa", "bbbb"}));
  ASSERT_TRUE(test.Keep("c", {"cccc", "dddd"}));
  EXPECT_EQ(test.cache.Find("a").answer, CacheAnswer::kIncomplete);
  EXPECT_EQ(test.cache.Find("c").answer, CacheAnswer::kHit);
}

TEST(ResultCache, a_result_that_does_not_fit_is_not_kept) {
  Cache test(/*limit_bytes=*/6);
  EXPECT_EQ(test.Keep("a", {"aaaa", "bbbb"}).error().reason, "STORAGE");
  EXPECT_EQ(test.cache.Find("a").answer, CacheAnswer::kMiss);
}

TEST(ResultCache, an_unreadable_blob_is_a_miss_that_heals) {
  Cache test;
  ASSERT_TRUE(test.Keep("a", {"model"}));
  {
    const ScopedFailpoint failpoint("store.read:eio");
    EXPECT_EQ(test.cache.Find("a").answer, CacheAnswer::kMiss);
  }
  EXPECT_EQ(test.cache.Find("a").answer, CacheAnswer::kHit);
}

TEST(ResultIndex, a_clock_that_jumps_back_evicts_nothing_new) {
  const TestFolder folder;
  const auto database = Database::Open(folder.path() + "/octavo.db").value();
  std::chrono::system_clock::time_point now(std::chrono::hours(1000));
  ResultIndex index(*database, /*most=*/3, [&] { return now; });
  for (const char* action : {"a", "b", "c"}) ASSERT_TRUE(index.Put(action, {}));
  now -= std::chrono::hours(24);
  ASSERT_TRUE(index.Find("a").value());  // is used, so "b" is the oldest
  ASSERT_TRUE(index.Put("d", {}));
  EXPECT_TRUE(index.Find("a").value());
  EXPECT_FALSE(index.Find("b").value());
  EXPECT_TRUE(index.Find("d").value());
}

}  // namespace
}  // namespace octavo::server
