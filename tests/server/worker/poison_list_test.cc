// SPDX-License-Identifier: Apache-2.0
#include "server/worker/poison_list.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace octavo::server::worker {
namespace {

using Clock = PoisonList::Clock;
using std::chrono::hours;

const Error kCrash{.code = Code::kAborted, .message = "SIGSEGV", .reason = "WORKER_CRASHED"};

job::Request RequestOf(std::string bytes) {
  return {.model = {.name = "m", .bytes = Blob(std::move(bytes))}};
}

TEST(PoisonList, RefusesAJobThatCrashedTwice) {
  PoisonList list;
  const auto now = Clock::now();
  const job::Request bad = RequestOf("bad");
  EXPECT_TRUE(list.Check(bad, now));
  list.Crashed(bad, kCrash, now);
  EXPECT_TRUE(list.Check(bad, now)) << "once may be chance";
  list.Crashed(bad, kCrash, now);
  const auto refused = list.Check(bad, now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "POISONED");
  EXPECT_NE(refused.error().message.find("SIGSEGV"), std::string::npos);
}

TEST(PoisonList, RefusesNoOtherJob) {
  PoisonList list;
  const auto now = Clock::now();
  const job::Request bad = RequestOf("bad");
  for (int i = 0; i < 2; ++i) list.Crashed(bad, kCrash, now);
  EXPECT_TRUE(list.Check(RequestOf("bat"), now)) << "of the same size";
  job::Request other = bad;
  other.options.integer_io = true;
  EXPECT_TRUE(list.Check(other, now)) << "with another option";
  job::Request threads = bad;
  threads.options.threads = 7;
  EXPECT_FALSE(list.Check(threads, now)) << "threads change no result";
}

TEST(PoisonList, ForgetsAfterADay) {
  PoisonList list;
  const auto now = Clock::now();
  const job::Request bad = RequestOf("bad");
  for (int i = 0; i < 2; ++i) list.Crashed(bad, kCrash, now);
  EXPECT_FALSE(list.Check(bad, now + hours(23)));
  EXPECT_TRUE(list.Check(bad, now + hours(24)));
  list.Crashed(bad, kCrash, now + hours(25));
  EXPECT_TRUE(list.Check(bad, now + hours(25))) << "it counts anew";
}

TEST(PoisonList, IsBounded) {
  PoisonList list;
  const auto now = Clock::now();
  const job::Request first = RequestOf("first");
  for (int i = 0; i < 2; ++i) list.Crashed(first, kCrash, now);
  for (size_t i = 0; i < PoisonList::kMostJobs; ++i) {
    list.Crashed(RequestOf(std::to_string(i)), kCrash, now + std::chrono::seconds(1));
  }
  EXPECT_TRUE(list.Check(first, now)) << "the oldest made room";
}

TEST(PoisonList, OutlivesTheServerInItsFile) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "poison.json").string();
  const auto now = Clock::now();
  const job::Request bad = RequestOf("bad");
  const Error crash{.code = Code::kAborted, .message = "SIGSEGV in \"\xff\n\""};
  PoisonList(file, now).Crashed(bad, crash, now);
  EXPECT_TRUE(PoisonList(file, now).Check(bad, now)) << "once may be chance";
  PoisonList(file, now).Crashed(bad, crash, now);
  const auto refused = PoisonList(file, now + hours(1)).Check(bad, now + hours(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "POISONED");
  EXPECT_NE(refused.error().message.find("SIGSEGV in \"??\""), std::string::npos);
  EXPECT_TRUE(PoisonList(file, now).Check(RequestOf("bat"), now));
  EXPECT_TRUE(PoisonList(file, now + hours(25)).Check(bad, now + hours(25)));
  // The clock had been a year ahead.
  EXPECT_FALSE(PoisonList(file, now - hours(9000)).Check(bad, now - hours(9000)));
  EXPECT_TRUE(PoisonList(file, now - hours(9000)).Check(bad, now - hours(8975)));
}

TEST(PoisonList, GoesOnWithoutAFileThatIsDamaged) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "poison.json").string();
  const auto now = Clock::now();
  const job::Request bad = RequestOf("bad");
  for (const char* text :
       {"", "[", "{}", "[1]", R"([{"action": 1}])",
        R"([{"action": "", "crashes": -1, "bytes": 0, "last": 0, "message": ""}])"}) {
    ASSERT_TRUE(WriteFile(file, std::string_view(text)));
    PoisonList list(file, now);
    EXPECT_TRUE(list.Check(bad, now)) << text;
    for (int i = 0; i < 2; ++i) list.Crashed(bad, kCrash, now);
    EXPECT_FALSE(list.Check(bad, now)) << text;
    EXPECT_FALSE(PoisonList(file, now).Check(bad, now)) << "it was written anew: " << text;
  }
}

}  // namespace
}  // namespace octavo::server::worker
