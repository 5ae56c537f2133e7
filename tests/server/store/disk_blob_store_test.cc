// SPDX-License-Identifier: Apache-2.0
// What the contract cannot say: restarts, the medium's errors, deaths at every durable step.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "server/store/failpoint.h"
#include "tests/server/store/disk_harness.h"

namespace octavo::server {
namespace {

Status Put(BlobStore& store, const std::string& bytes) {
  const auto stored = StoreBytes(store, DigestOf(bytes), Blob(bytes));
  if (!stored) return tl::unexpected(stored.error());
  return {};
}

bool Has(BlobStore& store, const std::string& bytes) {
  const auto blob = store.Open(DigestOf(bytes), Check::kAlways);
  return blob && *blob && ReadAll(*blob) == bytes;
}

TEST(DiskBlobStore, keeps_blobs_and_their_order_of_use_across_restarts) {
  DiskHarness harness({.limit_bytes = 12});
  for (const char* bytes : {"aaaa", "bbbb", "cccc"}) {
    ASSERT_TRUE(Put(harness.store(), bytes));
    usleep(10'000);  // times of modification differ
  }
  ASSERT_TRUE(Has(harness.store(), "aaaa"));
  harness.Reopen();
  EXPECT_EQ(harness.store().Now().bytes, 12u);
  ASSERT_TRUE(Put(harness.store(), "dddd"));
  EXPECT_FALSE(Has(harness.store(), "bbbb"));
  EXPECT_TRUE(Has(harness.store(), "aaaa"));
  harness.options().limit_bytes = 4;
  harness.Reopen();
  EXPECT_EQ(harness.store().Now().bytes, 4u);
  EXPECT_TRUE(Has(harness.store(), "aaaa"));
}

// Blobs of a byte would need more memory for their index than the disk has for them.
TEST(DiskBlobStore, keeps_no_more_blobs_than_its_index_may_have) {
  DiskHarness harness({});
  harness.options().blobs = 3;
  harness.Reopen();
  ASSERT_TRUE(Put(harness.store(), "a"));
  HeldBlob held = harness.store().Open(DigestOf("a"), Check::kNone).value();
  for (const char* bytes : {"b", "c", "d", "e"}) ASSERT_TRUE(Put(harness.store(), bytes));
  EXPECT_EQ(harness.store().Now().blobs, 3u);
  EXPECT_EQ(harness.store().Now().evicted_bytes, 2u);
  EXPECT_TRUE(Has(harness.store(), "a"));
  EXPECT_FALSE(Has(harness.store(), "c"));
  EXPECT_TRUE(Has(harness.store(), "d"));
  usleep(10'000);
  EXPECT_TRUE(Has(harness.store(), "e"));
  held = nullptr;
  harness.options().blobs = 1;
  harness.Reopen();
  EXPECT_EQ(harness.store().Now().blobs, 1u);
  EXPECT_TRUE(Has(harness.store(), "e"));
}

TEST(DiskBlobStore, resumes_after_a_restart) {
  DiskHarness harness({.limit_bytes = 16 << 20});
  std::string bytes(9 << 20, 'x');
  bytes[5 << 20] = 'y';
  const BlobDigest digest = DigestOf(bytes);
  {
    const auto writer = harness.store().Write(digest).value();
    ASSERT_TRUE(writer->Append(0, Blob(bytes.substr(0, 6 << 20))));
  }
  harness.Reopen();
  EXPECT_EQ(harness.store().QueryWrite(digest).value().committed_bytes, 6u << 20);
  EXPECT_EQ(harness.store().Now().bytes, 6u << 20);
  ASSERT_TRUE(Put(harness.store(), bytes));
  EXPECT_TRUE(Has(harness.store(), bytes));
  EXPECT_EQ(harness.CountFiles(), 1u);
}

TEST(DiskBlobStore, a_damaged_part_is_the_services_fault) {
  DiskHarness harness({});
  const BlobDigest digest = DigestOf("abcd");
  {
    const auto writer = harness.store().Write(digest).value();
    ASSERT_TRUE(writer->Append(0, Blob(std::string("abc"))));
  }
  harness.Reopen();
  DiskHarness::DamageFile(harness.PartialFile(digest));
  const auto damaged = Put(harness.store(), "abcd");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().reason, "STORAGE");
  EXPECT_TRUE(Put(harness.store(), "abcd"));
  EXPECT_TRUE(Has(harness.store(), "abcd"));
}

TEST(DiskBlobStore, removes_old_and_excess_parts_of_an_earlier_run) {
  DiskHarness harness({.partials = 100});
  for (int i = 0; i < 50; ++i) {
    const std::string bytes = fmt::format("{:08}", i);
    const auto writer = harness.store().Write(DigestOf(bytes)).value();
    ASSERT_TRUE(writer->Append(0, Blob(bytes.substr(0, 4))));
  }
  harness.options().partials = 8;
  harness.Reopen();
  EXPECT_EQ(harness.store().Now().partials, 8u);
  EXPECT_EQ(harness.CountFiles(), 8u);
  harness.Wait(std::chrono::hours(2));
  harness.store().Sweep();
  EXPECT_EQ(harness.CountFiles(), 0u);
}

TEST(DiskBlobStore, a_lost_or_shortened_file_is_damage) {
  DiskHarness harness({});
  ASSERT_TRUE(Put(harness.store(), "abcd"));
  ASSERT_TRUE(Put(harness.store(), "efgh"));
  std::filesystem::resize_file(harness.BlobFile(DigestOf("abcd")), 2);
  std::filesystem::remove(harness.BlobFile(DigestOf("efgh")));
  EXPECT_FALSE(Has(harness.store(), "abcd"));
  EXPECT_FALSE(Has(harness.store(), "efgh"));
  EXPECT_EQ(harness.store().Now().corruptions, 2u);
  EXPECT_EQ(harness.store().Now().bytes, 0u);
}

TEST(DiskBlobStore, a_folder_has_one_process) {
  const DiskHarness harness({});
  auto options = const_cast<DiskHarness&>(harness).options();
  const auto second = OpenDiskStore(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUsage);
  EXPECT_NE(second.error().message.find("another process"), std::string::npos);
}

TEST(DiskBlobStore, refuses_a_folder_that_cannot_be_used) {
  const TestFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  const auto store = OpenDiskStore({.folder = folder.path() + "/file/state"});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kUsage);
  EXPECT_EQ(store.error().field, "--state-dir");
}

TEST(DiskBlobStore, errors_of_the_medium_are_storage_and_heal) {
  for (const char* point : {"create", "write", "sync", "rename", "folder"}) {
    for (const char* error : {"eio", "enospc"}) {
      DiskHarness harness({});
      {
        const ScopedFailpoint failpoint(fmt::format("store.{}:{}", point, error));
        const auto failed = Put(harness.store(), "abcd");
        ASSERT_FALSE(failed) << point;
        EXPECT_EQ(failed.error().reason, "STORAGE") << point;
        EXPECT_EQ(failed.error().code, Code::kResourceExhausted) << point;
        EXPECT_FALSE(Has(harness.store(), "abcd")) << point;
      }
      const auto healed = Put(harness.store(), "abcd");
      ASSERT_TRUE(healed) << point << ' ' << healed.error().message;
      EXPECT_TRUE(Has(harness.store(), "abcd")) << point;
      EXPECT_EQ(harness.store().Now().bytes, 4u) << point;
      EXPECT_EQ(harness.CountFiles(), 1u) << point;
    }
  }
}

TEST(DiskBlobStore, an_unreadable_blob_is_kept) {
  DiskHarness harness({});
  ASSERT_TRUE(Put(harness.store(), "abcd"));
  {
    const ScopedFailpoint failpoint("store.read:eio");
    const auto blob = harness.store().Open(DigestOf("abcd"), Check::kAlways);
    ASSERT_FALSE(blob);
    EXPECT_EQ(blob.error().reason, "STORAGE");
  }
  EXPECT_TRUE(Has(harness.store(), "abcd"));
  EXPECT_EQ(harness.store().Now().corruptions, 0u);
}

TEST(DiskBlobStore, trial_writes_say_whether_the_medium_works) {
  DiskHarness harness({});
  EXPECT_TRUE(harness.store().TryWrite());
  {
    const ScopedFailpoint failpoint("store.write:enospc");
    const auto failed = harness.store().TryWrite();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().reason, "STORAGE");
    EXPECT_NE(failed.error().message.find("No space left"), std::string::npos);
  }
  EXPECT_TRUE(harness.store().TryWrite());
  EXPECT_EQ(harness.CountFiles(), 0u);
}

// A limit on the size of files fails a write in its middle, as a full disk does.
TEST(DiskBlobStore, a_write_that_stops_in_the_middle_is_undone) {
  const int status = InChild([] {
    signal(SIGXFSZ, SIG_IGN);
    DiskHarness harness({.limit_bytes = 1 << 20});
    const std::string bytes(100'000, 'x');
    rlimit before = {};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit tight = {.rlim_cur = 50'000, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    const auto failed = Put(harness.store(), bytes);
    setrlimit(RLIMIT_FSIZE, &before);
    return !failed && failed.error().reason == "STORAGE" && harness.store().Now().bytes == 0 &&
           Put(harness.store(), bytes) && Has(harness.store(), bytes);
  });
  EXPECT_EQ(status, 0);
}

TEST(DiskBlobStore, a_full_disk_is_said_and_heals) {
  const TestFolder folder;
  if (mount("octavo", folder.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
    GTEST_SKIP() << "mounting a tmpfs needs rights that this process lacks";
  }
  {
    const auto store = OpenDiskStore({.folder = folder.path() + "/state"}).value();
    const std::string filler_path = folder.path() + "/filler";
    ASSERT_TRUE(Put(*store, "kept"));
    {
      std::ofstream filler(filler_path);
      filler << std::string(3 << 20, 'x');
    }
    const std::string large(2 << 20, 'y');
    const auto failed = Put(*store, large);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().reason, "STORAGE");
    EXPECT_NE(failed.error().message.find("No space left on device"), std::string::npos);
    EXPECT_TRUE(Has(*store, "kept"));
    std::filesystem::remove(filler_path);
    EXPECT_TRUE(Put(*store, large));
    EXPECT_TRUE(Has(*store, large));
  }
  umount(folder.path().c_str());
}

// kill -9 at each durable step, and a service that starts again on what is left.
TEST(DiskBlobStore, survives_death_at_every_step) {
  for (const FailpointInfo& info : Failpoints()) {
    if (!info.name.starts_with("store.") || info.name == "store.read") continue;
    const TestFolder folder;
    const std::string second(3 << 20, 's');
    const auto run = [&](const std::string& failpoint) {
      return InChild([&] {
        const auto store = OpenDiskStore({.folder = folder.path(), .limit_bytes = 5 << 20});
        if (!store || !Put(**store, "first") || !SetFailpoint(failpoint)) return false;
        if (!Put(**store, second)) return false;
        return Put(**store, std::string(4 << 20, 't')).has_value();  // evicts `second`
      });
    };
    const int status = run(fmt::format("{}:kill", info.name));
    EXPECT_TRUE(WasKilled(status)) << info.name;
    {
      const auto store = OpenDiskStore({.folder = folder.path(), .limit_bytes = 5 << 20});
      ASSERT_TRUE(store) << info.name;
      EXPECT_TRUE(Has(**store, "first")) << info.name;
      const auto state = (*store)->QueryWrite(DigestOf(second)).value();
      EXPECT_EQ(state.complete, Has(**store, second)) << info.name;
      EXPECT_EQ((*store)->Now().corruptions, 0u) << info.name;
      EXPECT_TRUE(Put(**store, second)) << info.name;
      EXPECT_TRUE(Has(**store, second)) << info.name;
    }
    EXPECT_EQ(run(""), 0) << info.name;
  }
}

TEST(Failpoint, names_what_is_unknown) {
  for (const char* text : {"store.renam:kill", "store.rename:die", "store.rename", "x",
                           "store.rename:kill@0", "store.rename:kill@x"}) {
    const auto wrong = SetFailpoint(text);
    ASSERT_FALSE(wrong) << text;
    EXPECT_EQ(wrong.error().code, Code::kUsage);
    EXPECT_EQ(wrong.error().field, "OCTAVO_FAILPOINT");
  }
}

TEST(Failpoint, acts_from_the_given_time_on) {
  const ScopedFailpoint failpoint("store.sync:eio@3");
  EXPECT_EQ(Reach(Failpoint::kStoreSync), 0);
  EXPECT_EQ(Reach(Failpoint::kStoreRename), 0);
  EXPECT_EQ(Reach(Failpoint::kStoreSync), 0);
  EXPECT_EQ(Reach(Failpoint::kStoreSync), EIO);
  EXPECT_EQ(Reach(Failpoint::kStoreSync), EIO);
}

}  // namespace
}  // namespace octavo::server
