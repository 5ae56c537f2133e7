// SPDX-License-Identifier: Apache-2.0
// The times that refused clients are told.
#include "server/session/retry_times.h"

#include <gtest/gtest.h>

namespace octavo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Time = RetryTimes::Clock::time_point;

TEST(RetryTimes, AreAsFarApartAsPlacesComeFree) {
  RetryTimes times(2);
  times.Held(3);
  times.Held(5);  // a mean of 4 s: a place each 2 s
  const Time now{};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(times.Next("a", now), seconds(2 * (i + 1))) << i;
  }
  // Two of them have come back by now.
  EXPECT_EQ(times.Next("a", now + seconds(5)), seconds(8));
}

TEST(RetryTimes, AreAtLeast200MillisecondsAndStillApart) {
  RetryTimes times(1);
  times.Held(0.01);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(times.Next("a", Time{}), milliseconds(200 + 10 * i));
}

TEST(RetryTimes, AClientThatAsksAllTheTimePushesOnlyItselfBack) {
  RetryTimes times(1);
  times.Held(1);
  for (int i = 0; i < 1000; ++i) (void)times.Next("rude", Time{});
  EXPECT_EQ(times.Next("polite", Time{}), seconds(2));
  EXPECT_EQ(times.Next("polite", Time{}), seconds(4));
  EXPECT_EQ(times.Next("third", Time{}), seconds(3));
}

TEST(RetryTimes, AreBoundedAndSoIsWhatIsKept) {
  RetryTimes times(1);
  times.Held(1);
  milliseconds last{};
  for (int i = 0; i < 4'200; ++i) last = times.Next("a", Time{});
  EXPECT_EQ(last, milliseconds(RetryTimes::kMost));
  // All are forgotten once they have passed.
  EXPECT_EQ(times.Next("a", Time{} + std::chrono::hours(1)), seconds(1));
}

TEST(RetryTimes, TheLatestPlacesCountMost) {
  RetryTimes times(1);
  for (int i = 0; i < 50; ++i) times.Held(100);
  for (int i = 0; i < 50; ++i) times.Held(1);
  EXPECT_LT(times.Next("a", Time{}), seconds(2));
}

}  // namespace
}  // namespace octavo::server
