// SPDX-License-Identifier: Apache-2.0
#include "client/retry.h"

#include <gtest/gtest.h>

#include <thread>

namespace octavo::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

CallFailure Failed(Code code, std::optional<milliseconds> after = {}) {
  return {.error = {.code = code, .message = "no"}, .retry_after = after};
}

TEST(Retry, OnlyWhatMayPassIsTriedAgain) {
  Retry retry({}, {});
  EXPECT_TRUE(retry.PauseAfter(Failed(Code::kUnavailable)));
  EXPECT_TRUE(retry.PauseAfter(Failed(Code::kResourceExhausted, milliseconds(10))));
  EXPECT_FALSE(retry.PauseAfter(Failed(Code::kResourceExhausted)));
  EXPECT_FALSE(retry.PauseAfter(Failed(Code::kInvalidArgument)));
  EXPECT_FALSE(retry.PauseAfter(Failed(Code::kInternal)));
}

TEST(Retry, PausesDoubleUpToTheMostAndVaryByHalf) {
  Retry retry({.initial_backoff = milliseconds(100), .max_backoff = milliseconds(300)}, {});
  for (const int base : {100, 200, 300, 300}) {
    const auto pause = retry.PauseAfter(Failed(Code::kUnavailable));
    ASSERT_TRUE(pause);
    EXPECT_GE(*pause, milliseconds(base));
    EXPECT_LE(*pause, milliseconds(base + base / 2));
  }
}

TEST(Retry, TheServicesTimeComesBeforeTheClients) {
  Retry retry({.initial_backoff = milliseconds(1)}, {});
  const auto pause = retry.PauseAfter(Failed(Code::kResourceExhausted, milliseconds(2000)));
  ASSERT_TRUE(pause);
  EXPECT_GE(*pause, milliseconds(2000));
  // Those who come before they were told find no place.
  EXPECT_GE(*retry.PauseAfter(Failed(Code::kResourceExhausted, seconds(60))), seconds(60));
}

TEST(Retry, TheLastTryIsAtTheEndOfTheTime) {
  Retry retry({.retry_for = milliseconds(50)}, {});
  const CallFailure failure = Failed(Code::kResourceExhausted, seconds(1000));
  const auto pause = retry.PauseAfter(failure);
  ASSERT_TRUE(pause);
  EXPECT_LE(*pause, milliseconds(50));
  std::this_thread::sleep_for(milliseconds(51));
  EXPECT_FALSE(retry.PauseAfter(failure));
}

TEST(Retry, ANextTryThatWouldBeTooLateIsNone) {
  const CallFailure failure = Failed(Code::kUnavailable);
  EXPECT_FALSE(Retry({.retry_for = milliseconds(0)}, {}).PauseAfter(failure));
  const auto soon = std::chrono::system_clock::now() + milliseconds(50);
  EXPECT_FALSE(Retry({}, soon).PauseAfter(failure));
  EXPECT_TRUE(Retry({}, soon + seconds(60)).PauseAfter(failure));
}

TEST(Retry, ProgressBeginsTheTimeAnew) {
  Retry retry({.retry_for = milliseconds(30), .initial_backoff = milliseconds(1)}, {});
  const CallFailure failure = Failed(Code::kUnavailable);
  while (retry.PauseAfter(failure)) std::this_thread::sleep_for(milliseconds(5));
  retry.Progressed();
  EXPECT_TRUE(retry.PauseAfter(failure));
}

TEST(Retry, TheFinalErrorNamesTheAddressAndTheTimeAskedFor) {
  EXPECT_EQ(FinalError(Failed(Code::kUnavailable), "here:1").message, "here:1: no");
  EXPECT_EQ(FinalError(Failed(Code::kResourceExhausted, milliseconds(1200)), "here:1").message,
            "no; retry in 2 s");
}

}  // namespace
}  // namespace octavo::client
