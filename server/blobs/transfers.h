// SPDX-License-Identifier: Apache-2.0
// Bounds the transfers of one direction, in all and per client: a client may hold at most as many
// places as are free, so the first gets half and there is room for another.  Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/session/event.h"
#include "server/session/retry_times.h"

namespace octavo::server {

class Transfers {
 public:
  explicit Transfers(uint64_t places) : places_(places), retry_(places) {}

  // One transfer's place.  Must not outlive its Transfers.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend class Transfers;
    using Drains = std::list<std::function<void()>>;
    Place(Transfers& transfers, std::string client, Drains::iterator drain)
        : transfers_(transfers), client_(std::move(client)), drain_(drain) {}
    Transfers& transfers_;
    const std::string client_;
    const Drains::iterator drain_;
    const RetryTimes::Clock::time_point begun_ = RetryTimes::Clock::now();
  };

  // A place, or OVERLOADED or DRAINING with RetryInfo.  Drain calls `drain`, which must not block.
  tl::expected<std::unique_ptr<Place>, CallStatus> Enter(const std::string& client,
                                                         std::function<void()> drain);
  // Refuses new transfers and tells those under way.
  void Drain();
  uint64_t open() const;

 private:
  const uint64_t places_;
  mutable std::mutex mutex_;
  RetryTimes retry_;
  std::map<std::string, uint64_t> clients_;
  Place::Drains drains_;
  bool draining_ = false;
};

}  // namespace octavo::server
