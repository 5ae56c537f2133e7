// SPDX-License-Identifier: Apache-2.0
// Uploads of single blobs: order, resumption, refusals, bounds.
#include "server/blobs/blob_write.h"

#include "tests/server/blobs/fake_calls.h"
#include "tests/server/store/disk_harness.h"
#include "tests/server/store/memory_blob_store.h"

namespace octavo::server {
namespace {

struct InMemory {
  explicit InMemory(Limits limits = {}, uint64_t bytes = 1 << 20, size_t partials = 1024)
      : store(bytes, partials), fixture(store, std::move(limits)) {}
  MemoryBlobStore store;
  BlobFixture fixture;
};

bool Has(BlobStore& store, const std::string& bytes) {
  const auto blob = store.Open(DigestOf(bytes), Check::kAlways);
  return blob && *blob && ReadAll(*blob) == bytes;
}

TEST(BlobWrite, stores_the_chunks_of_a_blob) {
  InMemory test;
  FakeWrite call(test.fixture);
  call.Name(DigestOf("abcdef"));
  call.Send(0, "abcd");
  call.Send(4, "ef");
  call.HalfClose();
  EXPECT_EQ(call.Reason(), "");
  EXPECT_EQ(call.stored(), 6u);
  EXPECT_TRUE(Has(test.store, "abcdef"));
  EXPECT_EQ(test.fixture.probe.uploaded, 6u);
  EXPECT_EQ(test.fixture.services.writes.open(), 0u);
}

TEST(BlobWrite, stores_an_empty_blob) {
  InMemory test;
  FakeWrite call(test.fixture);
  call.Name(DigestOf(""));
  EXPECT_EQ(call.Reason(), "");
  EXPECT_TRUE(Has(test.store, ""));
}

TEST(BlobWrite, a_known_blob_is_answered_at_once) {
  InMemory test;
  ASSERT_TRUE(StoreBytes(test.store, DigestOf("abcd"), Blob(std::string("abcd"))));
  FakeWrite call(test.fixture);
  call.Name(DigestOf("abcd"));
  EXPECT_EQ(call.Reason(), "");
  EXPECT_EQ(call.stored(), 4u);
}

TEST(BlobWrite, a_broken_upload_continues_at_its_offset) {
  InMemory test;
  FakeWrite broken(test.fixture);
  broken.Name(DigestOf("abcdef"));
  broken.Send(0, "abcd");
  broken.Break();
  EXPECT_EQ(broken.Reason(), "CANCELLED");
  // Known as soon as the client hears of the end.
  EXPECT_EQ(test.store.QueryWrite(DigestOf("abcdef")).value(), (BlobWriteState{4, false}));
  FakeWrite call(test.fixture);
  call.Name(DigestOf("abcdef"));
  call.Send(4, "ef");
  call.HalfClose();
  EXPECT_EQ(call.Reason(), "");
  EXPECT_TRUE(Has(test.store, "abcdef"));
  EXPECT_EQ(test.fixture.probe.uploaded, 6u);
  EXPECT_EQ(test.store.Now().resumed, 1u);
}

TEST(BlobWrite, continues_after_a_restart_of_the_service) {
  DiskHarness disk(StoreSize{});
  {
    BlobFixture before(disk.store());
    FakeWrite broken(before);
    broken.Name(DigestOf("abcdef"));
    broken.Send(0, "abcd");
    broken.Break();
    broken.WaitForEnd();
  }
  disk.Reopen();
  BlobFixture after(disk.store());
  EXPECT_EQ(disk.store().QueryWrite(DigestOf("abcdef")).value().committed_bytes, 4u);
  FakeWrite call(after);
  call.Name(DigestOf("abcdef"));
  call.Send(4, "ef");
  call.HalfClose();
  EXPECT_EQ(call.Reason(), "");
  EXPECT_TRUE(Has(disk.store(), "abcdef"));
}

TEST(BlobWrite, all_bytes_without_the_end_of_the_stream_are_kept) {
  InMemory test;
  FakeWrite broken(test.fixture);
  broken.Name(DigestOf("abcd"));
  broken.Send(0, "abcd");
  ASSERT_TRUE(broken.Ready());
  test.fixture.services.Drain();
  EXPECT_EQ(broken.Reason(), "DRAINING");
  BlobFixture next(test.store);
  FakeWrite call(next);
  call.Name(DigestOf("abcd"));
  EXPECT_EQ(call.Reason(), "");
  EXPECT_TRUE(Has(test.store, "abcd"));
}

TEST(BlobWrite, refuses_another_digest_and_forgets_its_bytes) {
  InMemory test;
  FakeWrite call(test.fixture);
  call.Name(DigestOf("abcd"));
  call.Send(0, "abcx");
  call.HalfClose();
  const CallStatus status = call.WaitForEnd();
  ASSERT_TRUE(status.error);
  EXPECT_EQ(status.error->reason, "DIGEST_MISMATCH");
  EXPECT_EQ(status.error->code, Code::kInvalidArgument);
  EXPECT_EQ(test.store.QueryWrite(DigestOf("abcd")).value(), BlobWriteState{});
}

TEST(BlobWrite, refuses_what_is_not_the_next_chunk) {
  struct Case {
    uint64_t offset;
    std::string bytes;
  };
  for (const Case& wrong : {Case{0, "cd"}, Case{3, "d"}, Case{UINT64_MAX, "cd"}, Case{2, "cde"},
                            Case{2, std::string(5000, 'e')}, Case{2, ""}}) {
    InMemory test;
    FakeWrite call(test.fixture);
    call.Name(DigestOf("abcd"));
    call.Send(0, "ab");
    call.Send(wrong.offset, wrong.bytes);
    EXPECT_EQ(call.Reason(), "INVALID_CHUNK") << wrong.offset;
    EXPECT_EQ(test.store.QueryWrite(DigestOf("abcd")).value().committed_bytes, 2u);
  }
}

TEST(BlobWrite, a_blob_that_does_not_end_is_cut_at_its_size) {
  InMemory test;
  FakeWrite call(test.fixture);
  call.Name(DigestOf("abcd"));
  uint64_t offset = 0;
  while (offset < 1000 && call.Send(offset, "ab")) offset += 2;
  EXPECT_EQ(call.Reason(), "INVALID_CHUNK");
  EXPECT_LE(offset, 6u);
  EXPECT_LE(test.store.Now().bytes, 4u);
}

TEST(BlobWrite, refuses_streams_out_of_order) {
  InMemory test;
  FakeWrite chunk_first(test.fixture);
  chunk_first.Send(0, "ab");
  EXPECT_EQ(chunk_first.Reason(), "INVALID_CHUNK");
  FakeWrite twice(test.fixture);
  twice.Name(DigestOf("abcd"));
  twice.Name(DigestOf("abcd"));
  EXPECT_EQ(twice.Reason(), "INVALID_SPEC");
  FakeWrite nothing(test.fixture);
  nothing.HalfClose();
  EXPECT_EQ(nothing.Reason(), "INVALID_SPEC");
  FakeWrite malformed(test.fixture);
  malformed.Name({.sha256 = "../x", .size_bytes = 1});
  EXPECT_EQ(malformed.Reason(), "INVALID_SPEC");
}

TEST(BlobWrite, an_early_end_is_incomplete_and_kept) {
  InMemory test;
  FakeWrite call(test.fixture);
  call.Name(DigestOf("abcd"));
  call.Send(0, "ab");
  call.HalfClose();
  EXPECT_EQ(call.Reason(), "INCOMPLETE_UPLOAD");
  EXPECT_EQ(test.store.QueryWrite(DigestOf("abcd")).value().committed_bytes, 2u);
}

TEST(BlobWrite, an_idle_or_slow_client_is_cut) {
  InMemory test({.upload_idle_timeout = std::chrono::milliseconds(50)});
  FakeWrite silent(test.fixture);
  EXPECT_EQ(silent.Reason(), "UPLOAD_IDLE");
  InMemory slow_test(
      {.upload_idle_timeout = std::chrono::milliseconds(50), .upload_min_rate = 1'000'000});
  FakeWrite slow(slow_test.fixture);
  slow.Name(DigestOf("abcd"));
  slow.Send(0, "ab");
  EXPECT_EQ(slow.Reason(), "UPLOAD_IDLE");
  EXPECT_EQ(slow_test.store.QueryWrite(DigestOf("abcd")).value().committed_bytes, 2u);
}

TEST(BlobWrite, a_client_holds_at_most_half_of_the_places) {
  InMemory test({.uploads = 4});
  FakeWrite first(test.fixture, "a");
  FakeWrite second(test.fixture, "a");
  FakeWrite third(test.fixture, "a");
  first.Name(DigestOf("aaaa"));
  ASSERT_TRUE(first.Ready());
  second.Name(DigestOf("bbbb"));
  ASSERT_TRUE(second.Ready());
  third.Name(DigestOf("cccc"));
  const CallStatus refused = third.WaitForEnd();
  EXPECT_EQ(refused.error->reason, "OVERLOADED");
  EXPECT_TRUE(refused.retry_after);
  EXPECT_EQ(test.fixture.probe.rejections(RejectReason::kUploads), 1);
  FakeWrite other(test.fixture, "b");
  other.Name(DigestOf("dddd"));
  EXPECT_TRUE(other.Ready());
  EXPECT_EQ(test.fixture.services.writes.open(), 3u);
  for (FakeWrite* call : {&first, &second, &other}) call->Break();
  for (FakeWrite* call : {&first, &second, &other}) call->WaitForEnd();
  EXPECT_EQ(test.fixture.services.writes.open(), 0u);
}

TEST(BlobWrite, ten_thousand_abandoned_uploads_are_bounded) {
  DiskHarness disk({.limit_bytes = 1 << 20, .partials = 16});
  BlobFixture fixture(disk.store());
  for (int i = 0; i < 10'000; ++i) {
    const std::string bytes = fmt::format("{:08}", i);
    FakeWrite call(fixture);
    call.Name(DigestOf(bytes));
    call.Send(0, bytes.substr(0, 4));
    call.Break();
    ASSERT_EQ(call.Reason(), "CANCELLED");
    disk.Wait(std::chrono::seconds(1));
  }
  EXPECT_EQ(disk.store().Now().partials, 16u);
  EXPECT_EQ(disk.CountFiles(), 16u);
  EXPECT_EQ(disk.store().QueryWrite(DigestOf("00009999")).value().committed_bytes, 4u);
  EXPECT_EQ(disk.store().QueryWrite(DigestOf("00000000")).value().committed_bytes, 0u);
}

TEST(BlobWrite, a_full_disk_is_a_storage_error_that_heals) {
  DiskHarness disk(StoreSize{});
  BlobFixture fixture(disk.store());
  {
    const ScopedFailpoint full("store.write:enospc");
    FakeWrite call(fixture);
    call.Name(DigestOf("abcd"));
    call.Send(0, "ab");
    const CallStatus status = call.WaitForEnd();
    ASSERT_TRUE(status.error);
    EXPECT_EQ(status.error->reason, "STORAGE");
    EXPECT_EQ(status.error->code, Code::kResourceExhausted);
    EXPECT_TRUE(status.retry_after);
  }
  FakeWrite call(fixture);
  call.Name(DigestOf("abcd"));
  call.Send(0, "abcd");
  call.HalfClose();
  EXPECT_EQ(call.Reason(), "");
  EXPECT_TRUE(Has(disk.store(), "abcd"));
}

TEST(BlobWrite, what_never_fits_is_said_before_the_first_chunk) {
  InMemory test({}, 4);
  FakeWrite call(test.fixture);
  call.Name(DigestOf("abcde"));
  const CallStatus status = call.WaitForEnd();
  EXPECT_EQ(status.error->code, Code::kTooLarge);
  EXPECT_FALSE(status.retry_after);
}

TEST(BlobWrite, drain_ends_uploads_and_keeps_their_bytes) {
  InMemory test;
  FakeWrite call(test.fixture);
  call.Name(DigestOf("abcd"));
  call.Send(0, "ab");
  ASSERT_TRUE(call.Ready());
  test.fixture.services.Drain();
  const CallStatus status = call.WaitForEnd();
  EXPECT_EQ(status.error->reason, "DRAINING");
  EXPECT_TRUE(status.retry_after);
  EXPECT_EQ(test.store.QueryWrite(DigestOf("abcd")).value().committed_bytes, 2u);
  FakeWrite late(test.fixture);
  late.Name(DigestOf("abcd"));
  EXPECT_EQ(late.Reason(), "DRAINING");
}

}  // namespace
}  // namespace octavo::server
