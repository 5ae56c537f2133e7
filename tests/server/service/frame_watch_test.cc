// SPDX-License-Identifier: Apache-2.0
#include "server/service/frame_watch.h"

#include <gtest/gtest.h>

#include <string>

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kReset = 3;
constexpr char kData = 0;

std::string Frame(char type, size_t size, uint8_t fill = 0) {
  std::string frame = {static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                       static_cast<char>(size), type};
  return frame + std::string(5, '\0') + std::string(size, static_cast<char>(fill));
}

uint64_t Count(FrameCounter& counter, const std::string& bytes) {
  return counter.CountResets(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

std::string Connection() {
  // Also frames whose bytes would be heads of RST_STREAM frames themselves.
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0) + Frame(kReset, 4) +
         Frame(kData, 70'000, kReset) + Frame(kReset, 4) + Frame(kReset, 4, kReset) + Frame(6, 8);
}

TEST(FrameCounter, FindsResetsAmongOtherFrames) {
  FrameCounter counter;
  EXPECT_EQ(Count(counter, Connection()), 3u);
}

TEST(FrameCounter, FindsTheSameInPiecesOfEachSize) {
  const std::string bytes = Connection();
  for (size_t piece = 1; piece < 40; ++piece) {
    FrameCounter counter;
    uint64_t found = 0;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      found += Count(counter, bytes.substr(at, piece));
    }
    EXPECT_EQ(found, 3u) << "pieces of " << piece;
  }
}

TEST(ResetBudget, RefusesWhoExceedsTheBurstForASecond) {
  ResetBudget budget;
  const auto now = ResetBudget::Clock::now();
  EXPECT_TRUE(budget.Take(300, now));
  EXPECT_FALSE(budget.Refuses(now));
  EXPECT_FALSE(budget.Take(1, now));
  EXPECT_TRUE(budget.Refuses(now + milliseconds(999)));
  EXPECT_FALSE(budget.Refuses(now + seconds(1)));
}

TEST(ResetBudget, RefillsWithTime) {
  ResetBudget budget;
  const auto now = ResetBudget::Clock::now();
  EXPECT_TRUE(budget.Take(300, now));
  EXPECT_TRUE(budget.Take(250, now + milliseconds(500)));
  EXPECT_FALSE(budget.Idle(now + milliseconds(600)));
  EXPECT_TRUE(budget.Idle(now + seconds(2)));
  EXPECT_TRUE(budget.Take(300, now + seconds(100)));
  EXPECT_FALSE(budget.Take(1, now + seconds(100)));
}

}  // namespace
}  // namespace octavo::server
