// SPDX-License-Identifier: Apache-2.0
// Branch and bound over the sites' positions, and the improvement of a solution in small steps.
#include <cstdlib>
#include <numeric>

#include "core/passes/placement/solve.h"

namespace octavo::passes::placement {
namespace {

class Searcher {
 public:
  Searcher(const Problem& problem, const Positions& start, int64_t max_steps)
      : problem_(problem), left_(max_steps), best_(start), positions_(start) {
    const std::optional<Cost> cost = CostOf(problem, start);
    least_ = cost ? *cost : Cost{kForbidden, 0, 0};
    order_.resize(problem.sites.size());
    std::iota(order_.begin(), order_.end(), 0);
    known_.assign(problem.sites.size(), false);
  }

  std::optional<Positions> Run() {
    Visit(0);
    if (left_ <= 0) return std::nullopt;
    return best_;
  }

 private:
  void Visit(size_t next) {
    if (--left_ <= 0) return;
    const std::optional<Cost> bound = Bound();
    if (!bound || !(*bound < least_)) return;
    if (next == order_.size()) {
      least_ = *bound;
      best_ = positions_;
      return;
    }
    const int site = order_[next];
    known_[site] = true;
    for (int p = problem_.sites[site].low; p <= problem_.sites[site].high; ++p) {
      positions_[site] = p;
      Visit(next + 1);
    }
    known_[site] = false;
  }

  // A lower bound: the cost of the known positions, because further consumers never reduce a
  // value's cost.  nullopt if the positions are inconsistent.
  std::optional<Cost> Bound() const {
    Cost cost;
    for (const Value& value : problem_.values) {
      if (!known_[value.producer.site]) continue;
      std::vector<int> wanted;
      for (const End& consumer : value.consumers) {
        if (!known_[consumer.site]) continue;
        wanted.push_back(StageAt(problem_, value, consumer, positions_[consumer.site]));
      }
      const int from = StageAt(problem_, value, value.producer, positions_[value.producer.site]);
      const std::optional<Tree> tree = CheapestTree(value, from, wanted);
      if (!tree) return std::nullopt;
      cost += tree->cost;
    }
    for (size_t s = 0; s < known_.size(); ++s) {
      if (known_[s]) cost.moves += std::abs(positions_[s]);
    }
    return cost;
  }

  const Problem& problem_;
  int64_t left_;
  Positions best_, positions_;
  Cost least_;
  std::vector<int> order_;
  std::vector<bool> known_;
};

}  // namespace

std::optional<Positions> SolveBySearch(const Problem& problem, const Positions& start,
                                       int64_t max_steps) {
  return Searcher(problem, start, max_steps).Run();
}

Positions Improve(const Problem& problem, Positions start) {
  constexpr int kRounds = 4;
  std::vector<std::vector<int>> values_of(problem.sites.size());
  for (size_t v = 0; v < problem.values.size(); ++v) {
    values_of[problem.values[v].producer.site].push_back(static_cast<int>(v));
    for (const End& consumer : problem.values[v].consumers) {
      std::vector<int>& values = values_of[consumer.site];
      if (values.empty() || values.back() != static_cast<int>(v)) {
        values.push_back(static_cast<int>(v));
      }
    }
  }
  const auto around = [&](size_t site) -> std::optional<Cost> {
    Cost cost{0, 0, std::abs(start[site])};
    for (const int v : values_of[site]) {
      const std::optional<Tree> tree = TreeAt(problem, problem.values[v], start);
      if (!tree) return std::nullopt;
      cost += tree->cost;
    }
    return cost;
  };
  bool changed = true;
  for (int round = 0; changed && round < kRounds; ++round) {
    changed = false;
    for (size_t s = 0; s < problem.sites.size(); ++s) {
      int best = start[s];
      std::optional<Cost> least = around(s);
      for (int p = problem.sites[s].low; p <= problem.sites[s].high; ++p) {
        start[s] = p;
        const std::optional<Cost> cost = around(s);
        if (!cost || (least && !(*cost < *least))) continue;
        least = cost;
        best = p;
        changed = true;
      }
      start[s] = best;
    }
  }
  return start;
}

}  // namespace octavo::passes::placement
