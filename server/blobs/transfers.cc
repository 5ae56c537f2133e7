// SPDX-License-Identifier: Apache-2.0
#include "server/blobs/transfers.h"

#include <chrono>
#include <utility>
#include <vector>

#include "server/session/scheduler.h"

namespace octavo::server {

using Clock = RetryTimes::Clock;

Transfers::Place::~Place() {
  const std::scoped_lock lock(transfers_.mutex_);
  transfers_.drains_.erase(drain_);
  transfers_.retry_.Held(std::chrono::duration<double>(Clock::now() - begun_).count());
  const auto client = transfers_.clients_.find(client_);
  if (--client->second == 0) transfers_.clients_.erase(client);
}

tl::expected<std::unique_ptr<Transfers::Place>, CallStatus> Transfers::Enter(
    const std::string& client, std::function<void()> drain) {
  const std::scoped_lock lock(mutex_);
  if (draining_) return tl::unexpected(Draining());
  const auto known = clients_.find(client);
  const uint64_t held = known == clients_.end() ? 0 : known->second;
  const uint64_t free = places_ - drains_.size();
  if (held >= free) {
    return tl::unexpected(
        CallStatus{.error = Fail(Code::kResourceExhausted,
                                 "{} transfers of blobs are open, {} of them of this client; the "
                                 "service has places for {} (--max-uploads), and a client gets at "
                                 "most as many as are free",
                                 drains_.size(), held, places_)
                                .Reason("OVERLOADED")
                                .error(),
                   .retry_after = retry_.Next(client, Clock::now())});
  }
  ++clients_[client];
  const auto at = drains_.insert(drains_.end(), std::move(drain));
  return std::unique_ptr<Place>(new Place(*this, client, at));
}

void Transfers::Drain() {
  std::vector<std::function<void()>> drains;
  {
    const std::scoped_lock lock(mutex_);
    draining_ = true;
    drains.assign(drains_.begin(), drains_.end());
  }
  for (const auto& drain : drains) drain();
}

uint64_t Transfers::open() const {
  const std::scoped_lock lock(mutex_);
  return drains_.size();
}

}  // namespace octavo::server
