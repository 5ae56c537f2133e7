// SPDX-License-Identifier: Apache-2.0
#include "core/passes/placement/problem.h"

#include <algorithm>
#include <cstdlib>

namespace octavo::passes::placement {
namespace {

uint32_t BitOf(const Stage& stage) { return uint32_t{1} << stage.depth; }

// Chooses which stages on the way to the wanted ones to skip.
class Chooser {
 public:
  Chooser(const Value& value, int from, std::span<const int> wanted)
      : value_(value), from_(from), need_(value.stages.size(), Need::kNone) {
    for (const int stage : wanted) {
      for (int at = stage; at != from; at = value.stages[at].parent) {
        need_[at] = std::max(need_[at], at == stage ? Need::kWanted : Need::kOnTheWay);
      }
    }
  }

  Tree Run() {
    const auto steps = std::ranges::count_if(need_, [](Need n) { return n != Need::kNone; });
    best_.cost = {kForbidden, 0, 0};
    Visit(from_ + 1, {}, steps == 0 ? 0 : static_cast<int>(steps));
    return best_;
  }

 private:
  enum class Need { kNone, kOnTheWay, kWanted };

  // The depths of the kept stages above `stage`, up to and including `from_`, as bits.
  uint32_t KeptAbove(int stage) const {
    uint32_t kept = 0;
    for (int at = value_.stages[stage].parent; at >= 0; at = value_.stages[at].parent) {
      if (at == from_ || kept_[at]) kept |= BitOf(value_.stages[at]);
      if (at == from_) break;
    }
    return kept;
  }

  int AncestorAt(int stage, uint32_t depths) const {
    int at = value_.stages[stage].parent;
    while ((depths & BitOf(value_.stages[at])) == 0) at = value_.stages[at].parent;
    return at;
  }

  void Visit(size_t stage, Tree tree, int left) {
    if (tree.cost >= best_.cost && !tree.links.empty()) return;
    if (left == 0) {
      if (tree.cost < best_.cost) best_ = std::move(tree);
      return;
    }
    if (kept_.empty()) kept_.assign(value_.stages.size(), false);
    while (need_[stage] == Need::kNone) ++stage;
    const Stage& here = value_.stages[stage];
    const uint32_t above = KeptAbove(static_cast<int>(stage));
    const uint32_t same = here.same & above, from = here.from & above;
    if (same != 0 || from != 0) {
      Tree with = tree;
      const int source = AncestorAt(static_cast<int>(stage), same != 0 ? same : from);
      with.links.push_back({static_cast<int>(stage), source, same != 0});
      if (same == 0) with.cost += value_.price();
      kept_[stage] = true;
      Visit(stage + 1, std::move(with), left - 1);
      kept_[stage] = false;
    }
    if (need_[stage] == Need::kOnTheWay) Visit(stage + 1, std::move(tree), left - 1);
  }

  const Value& value_;
  const int from_;
  std::vector<Need> need_;
  std::vector<bool> kept_ = {};
  Tree best_ = {};
};

}  // namespace

int StageAt(const Problem& problem, const Value& value, const End& end, int position) {
  int stage = end.last;
  for (int p = problem.sites[end.site].high; p > position; --p) stage = value.stages[stage].parent;
  return stage;
}

bool IsOnTheWay(const Value& value, int ancestor, int stage) {
  const int depth = value.stages[ancestor].depth;
  while (value.stages[stage].depth > depth) stage = value.stages[stage].parent;
  return stage == ancestor;
}

std::optional<Tree> CheapestTree(const Value& value, int from, std::span<const int> wanted) {
  for (const int stage : wanted) {
    if (!IsOnTheWay(value, from, stage)) return std::nullopt;
  }
  return Chooser(value, from, wanted).Run();
}

std::optional<Tree> TreeAt(const Problem& problem, const Value& value, const Positions& positions) {
  std::vector<int> wanted;
  for (const End& consumer : value.consumers) {
    wanted.push_back(StageAt(problem, value, consumer, positions[consumer.site]));
  }
  const int from = StageAt(problem, value, value.producer, positions[value.producer.site]);
  return CheapestTree(value, from, wanted);
}

std::optional<Cost> CostOf(const Problem& problem, const Positions& positions) {
  Cost cost;
  for (const Value& value : problem.values) {
    const std::optional<Tree> tree = TreeAt(problem, value, positions);
    if (!tree) return std::nullopt;
    cost += tree->cost;
  }
  for (const int position : positions) cost.moves += std::abs(position);
  return cost;
}

bool HasShortcuts(const Value& value) {
  for (size_t i = 1; i < value.stages.size(); ++i) {
    const Stage& stage = value.stages[i];
    if (stage.same != 0 || stage.from != BitOf(value.stages[stage.parent])) return true;
  }
  return false;
}

}  // namespace octavo::passes::placement
