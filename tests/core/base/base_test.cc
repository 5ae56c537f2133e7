// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/base/blob.h"
#include "core/base/parallel.h"
#include "core/base/sha256.h"
#include "core/base/stop_token.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

Result<int> Half(int x) {
  if (x % 2) return Fail(Code::kInvalidArgument, "{} is odd", x).Field("x");
  return x / 2;
}
Result<int> Quarter(int x) {
  OCTAVO_TRY(const int half, Half(x));
  return Half(half);
}

TEST(Status, TryHandsTheErrorUpUnchanged) {
  EXPECT_EQ(*Quarter(12), 3);
  const auto bad = Quarter(6);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), (Error{.code = Code::kInvalidArgument,
                                .message = "3 is odd",
                                .reason = "INVALID_MODEL",
                                .field = "x"}));
}

TEST(Sha256, AgreesWithTheStandardsExampleInOnePieceAndInTwo) {
  // FIPS 180-2, appendix B.1.
  const char* expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(Sha256Of("abc"), expected);
  Sha256 hash;
  hash.Update("a");
  hash.Update("bc");
  EXPECT_EQ(hash.Finish(), expected);
}

TEST(ThreadPool, EveryIndexRunsOnceForAnyThreadCount) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 7, 64, 1000}) {
      std::vector<std::atomic<int>> seen(count);
      pool.For(count, 3, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ThreadPool, LoopsOfSeveralCallersNeitherMeetNorMissAWakeUp) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int64_t i = 0; i < 300; ++i) {
        pool.For(i % 17, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
        // Long enough for the pool's threads to fall asleep.
        if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  int64_t expected = 0;
  for (int64_t i = 0; i < 300; ++i) expected += 3 * (i % 17);
  EXPECT_EQ(sum, expected);
}

TEST(ThreadPool, ALoopInsideALoopRunsInline) {
  ThreadPool pool(2);
  std::atomic<int> sum{0};
  pool.For(4, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      pool.For(5, 1, [&](int64_t b, int64_t e) { sum += static_cast<int>(e - b); });
    }
  });
  EXPECT_EQ(sum, 20);
}

TEST(Blob, AMissingFileIsAUsageErrorThatNamesIt) {
  const auto blob = Blob::MapFile("/nowhere/model.onnx");
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().code, Code::kUsage);
  EXPECT_NE(blob.error().message.find("/nowhere/model.onnx"), std::string::npos);
}

TEST(Blob, WhatIsWrittenIsMappedBack) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "file").string();
  ASSERT_TRUE(WriteFile(path, "folded"));
  const auto blob = Blob::MapFile(path);
  ASSERT_TRUE(blob);
  std::filesystem::remove(path);
  EXPECT_EQ(blob->text(), "folded");
  EXPECT_EQ(blob->Slice(1, 3).text(), "old");
}

TEST(StopToken, CopiesShareTheFlagAndTheDeadlineCounts) {
  const StopToken token;
  const std::vector<StopToken> copies(2, token);
  for (const StopToken& copy : copies) EXPECT_TRUE(copy.Check());
  token.RequestStop();
  for (const StopToken& copy : copies) EXPECT_EQ(copy.Check().error().code, Code::kCancelled);
  const StopToken late(StopToken::Clock::now());
  EXPECT_EQ(late.Check().error().code, Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace octavo
