// SPDX-License-Identifier: Apache-2.0
// Reads of blobs: ranges, damage, clients that do not read; and which blobs are missing.
#include "server/blobs/blob_read.h"

#include "tests/server/blobs/fake_calls.h"
#include "tests/server/store/disk_harness.h"
#include "tests/server/store/memory_blob_store.h"

namespace octavo::server {
namespace {

struct OnDisk {
  explicit OnDisk(Limits limits = {})
      : disk({.limit_bytes = 16 << 20}), fixture(disk.store(), std::move(limits)) {}
  void Put(const std::string& bytes) {
    ASSERT_TRUE(StoreBytes(disk.store(), DigestOf(bytes), Blob(bytes)));
  }
  DiskHarness disk;
  BlobFixture fixture;
};

TEST(BlobRead, reads_all_or_a_range) {
  OnDisk test;
  const std::string bytes = "0123456789";
  test.Put(bytes);
  struct Case {
    uint64_t offset, limit;
    std::string expected;
  };
  for (const Case& each :
       {Case{0, 0, bytes}, Case{3, 0, "3456789"}, Case{3, 4, "3456"}, Case{0, 10, bytes},
        Case{8, 100, "89"}, Case{8, UINT64_MAX, "89"}, Case{10, 0, ""}}) {
    FakeRead call(test.fixture,
                  {.digest = DigestOf(bytes), .offset = each.offset, .limit = each.limit});
    EXPECT_EQ(call.Reason(), "");
    EXPECT_EQ(call.received(), each.expected);
  }
}

TEST(BlobRead, sends_a_large_blob_in_chunks) {
  OnDisk test;
  std::string bytes(5'000'001, 'a');
  for (size_t i = 0; i < bytes.size(); i += 1000) bytes[i] = static_cast<char>(i / 1000);
  test.Put(bytes);
  FakeRead call(test.fixture, {.digest = DigestOf(bytes)});
  EXPECT_EQ(call.Reason(), "");
  EXPECT_EQ(call.received(), bytes);
  EXPECT_EQ(call.largest(), size_t{1} << 20);
  EXPECT_EQ(test.fixture.probe.downloaded, bytes.size());
}

TEST(BlobRead, names_what_is_wrong) {
  OnDisk test;
  test.Put("abcd");
  FakeRead absent(test.fixture, {.digest = DigestOf("efgh")});
  EXPECT_EQ(absent.Reason(), "NOT_FOUND");
  FakeRead beyond(test.fixture, {.digest = DigestOf("abcd"), .offset = 5});
  const CallStatus status = beyond.WaitForEnd();
  EXPECT_EQ(status.error->field, "offset");
  EXPECT_EQ(status.error->code, Code::kInvalidArgument);
  FakeRead malformed(test.fixture, {.digest = {.sha256 = "abc", .size_bytes = 3}});
  EXPECT_EQ(malformed.Reason(), "INVALID_SPEC");
}

TEST(BlobRead, a_blob_that_is_being_written_is_not_found) {
  OnDisk test;
  FakeWrite write(test.fixture);
  write.Name(DigestOf("abcd"));
  write.Send(0, "ab");
  ASSERT_TRUE(write.Ready());
  FakeRead read(test.fixture, {.digest = DigestOf("abcd")});
  EXPECT_EQ(read.Reason(), "NOT_FOUND");
  EXPECT_EQ(test.disk.store().QueryWrite(DigestOf("abcd")).value(), BlobWriteState{});
  write.Break();
  write.WaitForEnd();
}

TEST(BlobRead, damage_before_the_first_check_is_data_loss_then_a_miss) {
  OnDisk test;
  test.Put("abcd");
  test.disk.Damage(DigestOf("abcd"));
  test.disk.Reopen();
  BlobFixture fixture(test.disk.store());
  FakeRead damaged(fixture, {.digest = DigestOf("abcd")});
  EXPECT_EQ(damaged.Reason(), "CORRUPT");
  EXPECT_EQ(damaged.received(), "");
  EXPECT_EQ(test.disk.store().Now().corruptions, 1u);
  FakeRead again(fixture, {.digest = DigestOf("abcd")});
  EXPECT_EQ(again.Reason(), "NOT_FOUND");
}

TEST(BlobRead, damage_after_the_check_is_found_at_the_end) {
  OnDisk test;
  test.Put("abcd");
  test.disk.Damage(DigestOf("abcd"));
  FakeRead damaged(test.fixture, {.digest = DigestOf("abcd")});
  EXPECT_EQ(damaged.Reason(), "CORRUPT");
  EXPECT_EQ(test.disk.store().Now().corruptions, 1u);
  EXPECT_FALSE(test.disk.store().QueryWrite(DigestOf("abcd")).value().complete);
  test.Put("abcd");
  FakeRead whole(test.fixture, {.digest = DigestOf("abcd")});
  EXPECT_EQ(whole.Reason(), "");
}

TEST(BlobRead, an_unreadable_disk_is_a_storage_error_that_heals) {
  OnDisk test;
  test.Put("abcd");
  {
    const ScopedFailpoint broken("store.read:eio");
    FakeRead call(test.fixture, {.digest = DigestOf("abcd")});
    EXPECT_EQ(call.Reason(), "STORAGE");
  }
  FakeRead call(test.fixture, {.digest = DigestOf("abcd")});
  EXPECT_EQ(call.Reason(), "");
}

TEST(BlobRead, a_client_that_does_not_read_is_cut) {
  OnDisk test({.upload_idle_timeout = std::chrono::milliseconds(50)});
  test.Put("abcd");
  FakeRead call(test.fixture, {.digest = DigestOf("abcd")}, /*reads=*/false);
  EXPECT_EQ(call.Reason(), "DOWNLOAD_IDLE");
  EXPECT_EQ(test.fixture.services.reads.open(), 0u);
}

TEST(BlobRead, drain_ends_reads) {
  OnDisk test;
  test.Put("abcd");
  test.fixture.services.Drain();
  FakeRead call(test.fixture, {.digest = DigestOf("abcd")});
  EXPECT_EQ(call.Reason(), "DRAINING");
}

TEST(FindMissing, lists_what_the_store_lacks_in_order) {
  MemoryBlobStore store;
  ASSERT_TRUE(StoreBytes(store, DigestOf("b"), Blob(std::string("b"))));
  const BlobDigest digests[] = {DigestOf("c"), DigestOf("b"), DigestOf("a")};
  EXPECT_EQ(FindMissing(store, digests).value(),
            (std::vector<BlobDigest>{DigestOf("c"), DigestOf("a")}));
}

// As in Bazel's remote caches: the caller's next request names these blobs.
TEST(FindMissing, marks_what_it_finds_as_used) {
  MemoryBlobStore store(/*limit_bytes=*/8);
  for (const char* bytes : {"aaaa", "bbbb"}) {
    ASSERT_TRUE(StoreBytes(store, DigestOf(bytes), Blob(std::string(bytes))));
  }
  const BlobDigest asked[] = {DigestOf("aaaa")};
  EXPECT_TRUE(FindMissing(store, asked).value().empty());
  ASSERT_TRUE(StoreBytes(store, DigestOf("cccc"), Blob(std::string("cccc"))));
  const BlobDigest digests[] = {DigestOf("aaaa"), DigestOf("bbbb")};
  EXPECT_EQ(FindMissing(store, digests).value(), (std::vector<BlobDigest>{DigestOf("bbbb")}));
}

TEST(FindMissing, names_the_malformed_digest_and_bounds_their_number) {
  MemoryBlobStore store;
  const BlobDigest digests[] = {DigestOf("c"), {.sha256 = "x"}};
  const auto malformed = FindMissing(store, digests);
  ASSERT_FALSE(malformed);
  EXPECT_EQ(malformed.error().field, "digests[1].sha256");
  const std::vector<BlobDigest> many(4097, DigestOf("c"));
  ASSERT_FALSE(FindMissing(store, many));
  EXPECT_TRUE(FindMissing(store, std::span(many).first(4096)));
}

}  // namespace
}  // namespace octavo::server
