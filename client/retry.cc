// SPDX-License-Identifier: Apache-2.0
#include "client/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

namespace octavo::client {
namespace {

using std::chrono::milliseconds;

constexpr auto kPollPause = milliseconds(20);

// A message over the limit is RESOURCE_EXHAUSTED too, but without a time to try again.
bool MayPass(const CallFailure& failure) {
  return failure.error.code == Code::kUnavailable ||
         (failure.error.code == Code::kResourceExhausted && failure.retry_after);
}

milliseconds Jittered(milliseconds pause) {
  static thread_local std::minstd_rand random(std::random_device{}());
  std::uniform_int_distribution<int64_t> extra(0, pause.count() / 2);
  return pause + milliseconds(extra(random));
}

}  // namespace

std::optional<milliseconds> Retry::PauseAfter(const CallFailure& failure) {
  ++attempts_;
  if (!MayPass(failure)) return std::nullopt;
  const auto now = Clock::now();
  if (!first_failure_) first_failure_ = now;
  const auto left = std::chrono::ceil<milliseconds>(*first_failure_ + policy_.retry_for - now);
  if (left <= milliseconds(0)) return std::nullopt;
  // The last try is at the end of the time.
  const auto pause = std::min(Jittered(failure.retry_after.value_or(pause_)), left);
  pause_ = std::min(pause_ * 2, policy_.max_backoff);
  if (deadline_ && std::chrono::system_clock::now() + pause >= *deadline_) return std::nullopt;
  return pause;
}

void Retry::Progressed() {
  first_failure_ = std::nullopt;
  pause_ = policy_.initial_backoff;
}

Status WaitToRetry(milliseconds pause, const CallFailure& failure, const std::string& address,
                   const Retry& retry, const StopToken& stop, const job::Observer& observer) {
  const double seconds = std::chrono::duration<double>(pause).count();
  const bool unreachable = failure.error.code == Code::kUnavailable;
  const std::string why = fmt::format(
      "in {:.1f} s, attempt {}: {} {}: {}", seconds, retry.attempts() + 1, address,
      unreachable ? "is unreachable" : "refuses for the time being", failure.error.message);
  observer({.stage = "retry", .pass = why});
  const auto end = std::chrono::steady_clock::now() + pause;
  while (std::chrono::steady_clock::now() < end) {
    OCTAVO_CHECK(stop.Check());
    std::this_thread::sleep_for(std::min(pause, kPollPause));
  }
  return {};
}

Error FinalError(CallFailure failure, const std::string& address, int attempts) {
  Error error = std::move(failure.error);
  if (error.code == Code::kUnavailable) {
    error.message = fmt::format("{}: {}", address, error.message);
  }
  if (attempts > 1) error.message += fmt::format(" ({} attempts)", attempts);
  if (failure.retry_after) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*failure.retry_after);
    error.message += fmt::format("; retry in {} s", seconds.count());
  }
  return error;
}

}  // namespace octavo::client
