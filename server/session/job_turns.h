// SPDX-License-Identifier: Apache-2.0
// The order of jobs that wait.  Clients take turns: one that comes, or comes back, starts at the
// current turn, so it neither waits for all jobs of another nor starves it (start-time fair
// queueing).  A client's own jobs go by priority, then by arrival.  Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace octavo::server {

class JobTurns {
 public:
  // The job must not wait already.
  void Add(const std::string& client, const std::string& job_id, int priority);
  // Whether it waited.
  bool Remove(const std::string& job_id);
  // The job whose turn it is; empty if none waits.
  std::optional<std::string> Next() const;
  // Removes the next job, which has had its client's turn.
  void TakeNext();
  bool Waits(const std::string& job_id) const { return places_.contains(job_id); }
  size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }
  // How many jobs will be taken before each, if no other comes.
  std::unordered_map<std::string, uint32_t> Positions() const;

 private:
  using Key = std::pair<int, uint64_t>;  // falling priority, arrival
  struct Line {
    std::map<Key, std::string> jobs = {};
    uint64_t turn = 0;
  };
  using Lines = std::map<std::string, Line>;
  struct Place {
    std::string client = {};
    Key key = {};
  };
  Lines::const_iterator NextLine() const;

  Lines lines_;  // of clients with jobs
  // The turns of clients without, while they are ahead.
  std::map<std::string, uint64_t> ahead_;
  std::unordered_map<std::string, Place> places_;
  uint64_t turn_ = 0;
  uint64_t arrivals_ = 0;
};

}  // namespace octavo::server
