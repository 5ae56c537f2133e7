// SPDX-License-Identifier: Apache-2.0
#include "server/session/job_turns.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace octavo::server {

void JobTurns::Add(const std::string& client, const std::string& job_id, int priority) {
  const auto [at, is_new] = lines_.try_emplace(client);
  Line& line = at->second;
  if (is_new) {
    // After who comes at the same time with a turn left, before who has just had one.
    line.turn = turn_ + 1;
    if (const auto ahead = ahead_.find(client); ahead != ahead_.end()) {
      line.turn = std::max(line.turn, ahead->second);
      ahead_.erase(ahead);
    }
  }
  const Key key(-priority, arrivals_++);
  line.jobs.emplace(key, job_id);
  places_.emplace(job_id, Place{.client = client, .key = key});
}

bool JobTurns::Remove(const std::string& job_id) {
  const auto place = places_.find(job_id);
  if (place == places_.end()) return false;
  const auto line = lines_.find(place->second.client);
  line->second.jobs.erase(place->second.key);
  if (line->second.jobs.empty()) {
    if (line->second.turn > turn_) ahead_.emplace(line->first, line->second.turn);
    lines_.erase(line);
  }
  places_.erase(place);
  return true;
}

JobTurns::Lines::const_iterator JobTurns::NextLine() const {
  return std::min_element(lines_.begin(), lines_.end(), [](const auto& a, const auto& b) {
    const auto key = [](const Line& line) {
      return std::tuple(line.turn, line.jobs.begin()->first.second);
    };
    return key(a.second) < key(b.second);
  });
}

std::optional<std::string> JobTurns::Next() const {
  const auto line = NextLine();
  if (line == lines_.end()) return std::nullopt;
  return line->second.jobs.begin()->second;
}

void JobTurns::TakeNext() {
  const auto next = NextLine();
  turn_ = next->second.turn;
  std::erase_if(ahead_, [this](const auto& other) { return other.second <= turn_; });
  lines_.find(next->first)->second.turn += 2;
  Remove(std::string(next->second.jobs.begin()->second));
}

std::unordered_map<std::string, uint32_t> JobTurns::Positions() const {
  // Before the n-th job of a line, each other line has n jobs taken, or all that it has.
  std::vector<uint32_t> lines_longer_than;
  for (const auto& [client, line] : lines_) {
    if (lines_longer_than.size() < line.jobs.size()) lines_longer_than.resize(line.jobs.size());
    ++lines_longer_than[line.jobs.size() - 1];
  }
  for (size_t n = lines_longer_than.size(); n-- > 1;) {
    lines_longer_than[n - 1] += lines_longer_than[n];
  }
  std::unordered_map<std::string, uint32_t> positions;
  for (const auto& [client, line] : lines_) {
    uint32_t before = 0;
    size_t n = 0;
    for (const auto& [key, job_id] : line.jobs) {
      positions.emplace(job_id, before);
      before += lines_longer_than[n++];
    }
  }
  return positions;
}

}  // namespace octavo::server
