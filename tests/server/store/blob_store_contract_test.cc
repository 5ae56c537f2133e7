// SPDX-License-Identifier: Apache-2.0
#include "tests/server/store/blob_store_contract.h"

#include <thread>
#include <vector>

#include "tests/server/store/disk_harness.h"
#include "tests/server/store/memory_blob_store.h"

namespace octavo::server {
namespace {

class MemoryHarness : public StoreHarness {
 public:
  explicit MemoryHarness(StoreSize size) : store_(size.limit_bytes, size.partials) {}
  BlobStore& store() override { return store_; }
  void Damage(const BlobDigest& digest) override { store_.Damage(digest.sha256); }
  void Wait(std::chrono::seconds period) override { store_.Wait(period); }

 private:
  MemoryBlobStore store_;
};

const StoreFactory kFactories[] = {
    {"memory", [](StoreSize size) { return std::make_unique<MemoryHarness>(size); }},
    {"disk", [](StoreSize size) { return std::make_unique<DiskHarness>(size); }},
};

INSTANTIATE_TEST_SUITE_P(Store, BlobStoreContract, testing::ValuesIn(kFactories),
                         [](const auto& info) { return info.param.name; });

TEST_P(BlobStoreContract, gives_back_what_was_stored) {
  Make();
  EXPECT_FALSE(Has("abc"));
  Put("abc");
  EXPECT_TRUE(Has("abc"));
  EXPECT_TRUE(Has("abc", Check::kOnce));
  EXPECT_EQ(store().QueryWrite(DigestOf("abc")).value(), (BlobWriteState{3, true}));
  EXPECT_EQ(store().Now().bytes, 3u);
  EXPECT_EQ(store().Now().blobs, 1u);
  EXPECT_EQ(store().Now().partials, 0u);
}

TEST_P(BlobStoreContract, stores_an_empty_blob) {
  Make();
  Put("");
  EXPECT_TRUE(Has(""));
  EXPECT_EQ(store().Open(DigestOf(""), Check::kAlways).value()->Map().value().size(), 0u);
}

TEST_P(BlobStoreContract, another_size_is_another_blob) {
  Make();
  Put("abc");
  BlobDigest digest = DigestOf("abc");
  digest.size_bytes = 4;
  EXPECT_EQ(store().Open(digest, Check::kAlways).value(), nullptr);
  EXPECT_FALSE(store().QueryWrite(digest).value().complete);
}

TEST_P(BlobStoreContract, reads_ranges_and_maps) {
  Make();
  Put("0123456789");
  const HeldBlob blob = store().Open(DigestOf("0123456789"), Check::kAlways).value();
  std::string part(4, ' ');
  ASSERT_TRUE(blob->Read(3, std::as_writable_bytes(std::span(part))));
  EXPECT_EQ(part, "3456");
  EXPECT_EQ(blob->Map().value().text(), "0123456789");
  const auto beyond = blob->Read(7, std::as_writable_bytes(std::span(part)));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().field, "offset");
  EXPECT_FALSE(blob->Read(UINT64_MAX, std::as_writable_bytes(std::span(part))));
}

TEST_P(BlobStoreContract, refuses_what_is_no_digest) {
  Make();
  for (const std::string& text : {std::string("abc"), std::string(64, 'A'), std::string(64, '/'),
                                  "../" + std::string(61, 'a')}) {
    const BlobDigest digest{.sha256 = text, .size_bytes = 1};
    EXPECT_FALSE(store().Open(digest, Check::kAlways)) << text;
    EXPECT_FALSE(store().QueryWrite(digest)) << text;
    EXPECT_FALSE(store().Write(digest)) << text;
  }
}

TEST_P(BlobStoreContract, refuses_wrong_offsets_and_sizes) {
  Make();
  const auto writer = store().Write(DigestOf("abcd")).value();
  ASSERT_TRUE(writer->Append(0, Blob(std::string("ab"))));
  for (const uint64_t offset : {uint64_t{0}, uint64_t{3}, UINT64_MAX}) {
    const auto wrong = writer->Append(offset, Blob(std::string("c")));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().reason, "INVALID_CHUNK");
  }
  EXPECT_FALSE(writer->Append(2, Blob(std::string("cde"))));
  EXPECT_EQ(writer->committed(), 2u);
  const auto early = writer->Commit();
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().reason, "INCOMPLETE_UPLOAD");
}

TEST_P(BlobStoreContract, drops_bytes_with_another_digest) {
  Make();
  {
    const auto writer = store().Write(DigestOf("abcd")).value();
    ASSERT_TRUE(writer->Append(0, Blob(std::string("abcx"))));
    const auto wrong = writer->Commit();
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().reason, "DIGEST_MISMATCH");
    EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
  }
  EXPECT_EQ(store().QueryWrite(DigestOf("abcd")).value(), BlobWriteState{});
  EXPECT_EQ(store().Now().bytes, 0u);
  EXPECT_EQ(store().Now().partials, 0u);
  Put("abcd");
  EXPECT_TRUE(Has("abcd"));
}

TEST_P(BlobStoreContract, resumes_a_broken_upload) {
  Make();
  const std::string bytes = "0123456789";
  {
    const auto writer = store().Write(DigestOf(bytes)).value();
    ASSERT_TRUE(writer->Append(0, Blob(bytes.substr(0, 6))));
    EXPECT_EQ(store().QueryWrite(DigestOf(bytes)).value(), BlobWriteState{});  // being written
  }
  EXPECT_EQ(store().QueryWrite(DigestOf(bytes)).value(), (BlobWriteState{6, false}));
  const auto writer = store().Write(DigestOf(bytes)).value();
  EXPECT_EQ(writer->committed(), 6u);
  ASSERT_TRUE(writer->Append(6, Blob(bytes.substr(6))));
  ASSERT_TRUE(writer->Commit());
  EXPECT_TRUE(Has(bytes));
  EXPECT_EQ(store().Now().resumed, 1u);
}

TEST_P(BlobStoreContract, two_writers_of_a_blob_do_not_meet) {
  Make();
  auto first = store().Write(DigestOf("abcd")).value();
  ASSERT_TRUE(first->Append(0, Blob(std::string("ab"))));
  auto second = store().Write(DigestOf("abcd")).value();
  EXPECT_EQ(second->committed(), 0u);
  ASSERT_TRUE(second->Append(0, Blob(std::string("abcd"))));
  EXPECT_FALSE(Has("abcd"));
  ASSERT_TRUE(second->Commit());
  EXPECT_TRUE(Has("abcd"));
  ASSERT_TRUE(first->Append(2, Blob(std::string("cd"))));
  const HeldBlob blob = first->Commit().value();
  EXPECT_EQ(ReadAll(blob), "abcd");
  second.reset();
  first.reset();
  EXPECT_EQ(store().Now().bytes, 4u);
  EXPECT_EQ(store().Now().blobs, 1u);
  EXPECT_EQ(store().Now().partials, 0u);
  EXPECT_EQ(store().Now().dedup_bytes, 4u);
}

TEST_P(BlobStoreContract, a_second_writer_leaves_nothing) {
  Make();
  const auto first = store().Write(DigestOf("abcd")).value();
  ASSERT_TRUE(first->Append(0, Blob(std::string("a"))));
  {
    const auto second = store().Write(DigestOf("abcd")).value();
    ASSERT_TRUE(second->Append(0, Blob(std::string("abc"))));
  }
  EXPECT_EQ(store().Now().bytes, 1u);
  EXPECT_EQ(store().Now().partials, 1u);
}

TEST_P(BlobStoreContract, the_writer_of_a_complete_blob_has_all_of_it) {
  Make();
  Put("abcd");
  const auto writer = store().Write(DigestOf("abcd")).value();
  EXPECT_EQ(writer->committed(), 4u);
  EXPECT_EQ(ReadAll(writer->Commit().value()), "abcd");
}

TEST_P(BlobStoreContract, a_damaged_blob_is_a_counted_miss) {
  Make();
  Put("abcd");
  Put("efgh");
  harness_->Damage(DigestOf("abcd"));
  EXPECT_FALSE(Has("abcd"));
  EXPECT_EQ(store().Now().corruptions, 1u);
  EXPECT_EQ(store().Now().bytes, 4u);
  EXPECT_FALSE(store().QueryWrite(DigestOf("abcd")).value().complete);
  EXPECT_TRUE(Has("efgh"));
  Put("abcd");
  EXPECT_TRUE(Has("abcd"));
  EXPECT_EQ(store().Now().corruptions, 1u);
}

TEST_P(BlobStoreContract, a_full_store_evicts_the_least_recently_used) {
  Make({.limit_bytes = 12});
  Put("aaaa");
  Put("bbbb");
  Put("cccc");
  EXPECT_TRUE(Has("aaaa"));
  Put("dddd");
  EXPECT_FALSE(Has("bbbb"));
  EXPECT_TRUE(Has("aaaa"));
  EXPECT_TRUE(Has("cccc"));
  EXPECT_TRUE(Has("dddd"));
  EXPECT_EQ(store().Now().evicted_bytes, 4u);
  EXPECT_EQ(store().Now().bytes, 12u);
}

TEST_P(BlobStoreContract, never_evicts_what_is_held) {
  Make({.limit_bytes = 8});
  Put("aaaa");
  HeldBlob held = store().Open(DigestOf("aaaa"), Check::kAlways).value();
  Put("bbbb");
  Put("cccc");
  EXPECT_FALSE(Has("bbbb"));
  Blob mapped = held->Map().value();
  held.reset();
  Put("dddd");  // the mapping holds it, too
  EXPECT_TRUE(Has("aaaa"));
  const auto other = store().Open(DigestOf("dddd"), Check::kAlways).value();
  const auto full = StoreBytes(store(), DigestOf("eeee"), Blob(std::string("eeee")));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().reason, "STORAGE");
  EXPECT_EQ(full.error().code, Code::kResourceExhausted);
  EXPECT_EQ(mapped.text(), "aaaa");
  mapped = Blob();
  Put("eeee");
  EXPECT_FALSE(Has("aaaa"));
  EXPECT_LE(store().Now().bytes, 8u);
}

TEST_P(BlobStoreContract, refuses_a_blob_that_can_never_fit) {
  Make({.limit_bytes = 8});
  const auto writer = store().Write(DigestOf("123456789"));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, Code::kTooLarge);
}

TEST_P(BlobStoreContract, partial_blobs_are_dropped_after_an_hour) {
  Make();
  {
    const auto writer = store().Write(DigestOf("abcd")).value();
    ASSERT_TRUE(writer->Append(0, Blob(std::string("ab"))));
    harness_->Wait(std::chrono::hours(2));
    store().Sweep();  // being written
    EXPECT_EQ(store().Now().bytes, 2u);
  }
  harness_->Wait(std::chrono::minutes(59));
  store().Sweep();
  EXPECT_EQ(store().QueryWrite(DigestOf("abcd")).value().committed_bytes, 2u);
  harness_->Wait(std::chrono::minutes(2));
  store().Sweep();
  EXPECT_EQ(store().QueryWrite(DigestOf("abcd")).value().committed_bytes, 0u);
  EXPECT_EQ(store().Now().bytes, 0u);
}

TEST_P(BlobStoreContract, bounds_the_number_of_partial_blobs) {
  Make({.partials = 4});
  for (int i = 0; i < 10'000; ++i) {
    const std::string bytes = fmt::format("{:08}", i);
    const auto writer = store().Write(DigestOf(bytes)).value();
    ASSERT_TRUE(writer->Append(0, Blob(bytes.substr(0, 4))));
    harness_->Wait(std::chrono::seconds(1));
  }
  EXPECT_EQ(store().Now().partials, 4u);
  EXPECT_EQ(store().Now().bytes, 16u);
  EXPECT_EQ(store().QueryWrite(DigestOf("00009999")).value().committed_bytes, 4u);
  EXPECT_EQ(store().QueryWrite(DigestOf("00009995")).value().committed_bytes, 0u);
}

TEST_P(BlobStoreContract, abandoned_uploads_make_room) {
  Make({.limit_bytes = 10});
  for (const char* bytes : {"aaaa", "bbbb"}) {
    const auto writer = store().Write(DigestOf(bytes)).value();
    ASSERT_TRUE(writer->Append(0, Blob(std::string(bytes, 3))));
    harness_->Wait(std::chrono::seconds(1));
  }
  const auto open = store().Write(DigestOf("open")).value();
  ASSERT_TRUE(open->Append(0, Blob(std::string("op"))));
  Put("cccc");  // 2 bytes are free
  EXPECT_EQ(store().QueryWrite(DigestOf("aaaa")).value().committed_bytes, 0u);
  EXPECT_EQ(store().QueryWrite(DigestOf("bbbb")).value().committed_bytes, 3u);
  EXPECT_EQ(open->committed(), 2u);
  EXPECT_EQ(store().Now().bytes, 9u);
}

TEST_P(BlobStoreContract, refuses_an_upload_beyond_those_in_progress) {
  Make({.partials = 2});
  const auto first = store().Write(DigestOf("aaaa")).value();
  auto second = store().Write(DigestOf("bbbb")).value();
  const auto third = store().Write(DigestOf("cccc"));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().reason, "OVERLOADED");
  second.reset();
  EXPECT_TRUE(store().Write(DigestOf("cccc")));
}

TEST_P(BlobStoreContract, serves_many_threads) {
  Make({.limit_bytes = 2000, .partials = 64});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string bytes = fmt::format("{:0100}", (i * 7 + t * 3) % 40);
        const auto stored = StoreBytes(store(), DigestOf(bytes), Blob(bytes));
        ASSERT_TRUE(stored) << stored.error().message;
        EXPECT_EQ(ReadAll(*stored), bytes);
        EXPECT_EQ((*stored)->Map().value().text(), bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(store().Now().bytes, 2000u);
  EXPECT_EQ(store().Now().partials, 0u);
  EXPECT_EQ(store().Now().corruptions, 0u);
}

}  // namespace
}  // namespace octavo::server
