// SPDX-License-Identifier: Apache-2.0
#include "server/session/retry_times.h"

#include <algorithm>

namespace octavo::server {
namespace {

// So many wait for minutes; further ones are not kept, so that memory stays small.
constexpr size_t kMostTold = 4096;
constexpr double kWeight = 0.2;  // of the latest place in the mean

}  // namespace

void RetryTimes::Held(double seconds) {
  ++held_;
  mean_seconds_ += std::max(kWeight, 1.0 / held_) * (seconds - mean_seconds_);
}

void RetryTimes::Forget(Clock::time_point now) {
  for (auto client = told_.begin(); client != told_.end();) {
    auto& times = client->second;
    told_in_all_ -= std::erase_if(times, [now](Clock::time_point time) { return time <= now; });
    client = times.empty() ? told_.erase(client) : std::next(client);
  }
}

std::chrono::milliseconds RetryTimes::Next(const std::string& client, Clock::time_point now,
                                           uint64_t sharing) {
  Forget(now);
  const auto own = told_.find(client);
  const size_t ahead_of_own = own == told_.end() ? 0 : own->second.size();
  size_t ahead = ahead_of_own;
  for (const auto& [name, times] : told_) {
    if (name != client) ahead += std::min(times.size(), ahead_of_own + 1);
  }
  const double pace = mean_seconds_ * static_cast<double>(sharing) / static_cast<double>(servers_);
  const double least = std::chrono::duration<double>(kLeast).count();
  const double most = std::chrono::duration<double>(kMost).count();
  const double seconds = std::min(most, std::max(least, pace) + static_cast<double>(ahead) * pace);
  const std::chrono::milliseconds pause(static_cast<int64_t>(seconds * 1000));
  if (told_in_all_ < kMostTold) {
    told_[client].push_back(now + pause);
    ++told_in_all_;
  }
  return pause;
}

}  // namespace octavo::server
