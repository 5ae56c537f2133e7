// SPDX-License-Identifier: Apache-2.0
#include "tests/core/passes/placement/random_region.h"

#include <algorithm>
#include <deque>

namespace octavo::passes::placement {
namespace {

using Kind = Actor::Kind;
using Labels = std::vector<int>;

class Maker {
 public:
  Maker(std::mt19937& random, int movers) : random_(random), movers_(movers) {}

  RandomRegion Run() {
    labels_ = Pick(2, 3);
    const int producers = Pick(1, 3);
    for (int i = 0; i < producers; ++i) AddItem(AddActor(Kind::kProducer));
    const int movers = Pick(1, movers_);
    for (int i = 0; i < movers; ++i) {
      const int mover = AddActor(Kind::kMover);
      const int operands = Pick(1, 2), earlier = static_cast<int>(region().items.size());
      for (int o = 0; o < operands; ++o) Read(Pick(0, earlier - 1), mover);
      const int results = Chance(0.1) ? 2 : 1;
      for (int r = 0; r < results; ++r) AddItem(mover);
    }
    for (size_t i = 0; i < region().items.size(); ++i) {
      // A few values have no consumer.
      if (Chance(region().items[i].ways.empty() ? 0.1 : 0.7)) continue;
      Read(static_cast<int>(i), AddActor(Kind::kReader));
    }
    DrawAllowedMoves();
    return made_;
  }

 private:
  Region& region() { return made_.region; }
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }

  int AddActor(Kind kind) {
    region().actors.push_back({kind, Pick(0, labels_ - 1)});
    return static_cast<int>(region().actors.size()) - 1;
  }
  void AddItem(int producer) { region().items.push_back({Pick(1, 9), producer, {}}); }

  void Read(int item, int actor) {
    Way way{.reader = actor};
    int at = region().actors[region().items[item].producer].label;
    const int label = region().actors[actor].label;
    for (int detours = Chance(0.2) ? Pick(1, 2) : 0; detours > 0; --detours) {
      const int by = (at + Pick(1, labels_ - 1)) % labels_;
      if (by == label && detours == 1 && at == label) break;
      way.labels.push_back(at = by);
    }
    if (at != label) way.labels.push_back(label);
    region().items[item].ways.push_back(std::move(way));
  }

  void DrawAllowedMoves() {
    const double merging = Pick(0, 2) * 0.5;
    const int actors = static_cast<int>(region().actors.size());
    for (int a = 0; a < std::max(actors, labels_); ++a) {
      const bool reads = Chance(0.3), gives = Chance(0.3);
      for (int from = 0; from < labels_; ++from) {
        for (int to = 0; to < labels_; ++to) {
          if (Chance(0.9)) made_.allowed.sink.insert({a, from, to});
          if (Chance(0.9)) made_.allowed.raise.insert({a, from, to});
          if (reads && Chance(0.8)) made_.allowed.read.insert({a, from, to});
          if (gives && Chance(0.8)) made_.allowed.give.insert({a, from, to});
          if (Chance(merging)) made_.allowed.merge.insert({a, from, to});
        }
      }
    }
  }

  std::mt19937& random_;
  const int movers_;
  int labels_ = 2;
  RandomRegion made_;
};

// The positions of all Rescales: the label and the moves of each actor, and the labels of each way.
struct State {
  Labels labels = {}, moved = {};
  std::vector<std::vector<Labels>> ways = {};  // by item

  auto operator<=>(const State&) const = default;
};

class Explorer {
 public:
  Explorer(const Region& region, const RandomMoves& allowed) : region_(region), allowed_(allowed) {}

  Cost Run() {
    State start{.moved = Labels(region_.actors.size(), 0)};
    for (const Actor& actor : region_.actors) start.labels.push_back(actor.label);
    for (const Item& item : region_.items) {
      start.ways.emplace_back();
      for (const Way& way : item.ways) start.ways.back().push_back(way.labels);
    }
    Reach(start);
    Cost best{kForbidden, 0, 0};
    while (!queue_.empty()) {
      const State state = queue_.front();
      queue_.pop_front();
      best = std::min(best, CostOf(state));
      for (size_t a = 0; a < region_.actors.size(); ++a) Moves(state, static_cast<int>(a));
    }
    return best;
  }

 private:
  void Reach(const State& state) {
    if (seen_.insert(state).second) queue_.push_back(state);
  }

  void Moves(const State& state, int actor) {
    const Kind kind = region_.actors[actor].kind;
    if (kind != Kind::kProducer) Earlier(state, actor, kind == Kind::kMover);
    if (kind != Kind::kReader) Later(state, actor, kind == Kind::kMover);
  }

  void Earlier(State state, int actor, bool moves_on) {
    const int to = state.labels[actor];
    int from = -1;
    for (size_t i = 0; i < region_.items.size(); ++i) {
      const Item& item = region_.items[i];
      for (size_t w = 0; w < item.ways.size(); ++w) {
        Labels& way = state.ways[i][w];
        if (item.ways[w].reader == actor) {
          if (way.empty()) return;
          way.pop_back();
          const int before = way.empty() ? state.labels[item.producer] : way.back();
          if (from >= 0 && from != before) return;
          from = before;
        }
        if (item.producer == actor) way.insert(way.begin(), to);
      }
    }
    const auto& rule = moves_on ? allowed_.sink : allowed_.read;
    if (from < 0 || state.moved[actor] == -kMaxSteps || !rule.contains({actor, from, to})) return;
    state.labels[actor] = from;
    --state.moved[actor];
    Reach(state);
  }

  void Later(State state, int actor, bool moves_on) {
    const int from = state.labels[actor];
    int to = -1;
    for (size_t i = 0; i < region_.items.size(); ++i) {
      if (region_.items[i].producer != actor) continue;
      for (Labels& way : state.ways[i]) {
        if (way.empty() || (to >= 0 && to != way.front())) return;
        to = way.front();
        way.erase(way.begin());
      }
    }
    const auto& rule = moves_on ? allowed_.raise : allowed_.give;
    if (to < 0 || state.moved[actor] == kMaxSteps || !rule.contains({actor, from, to})) return;
    for (size_t i = 0; i < region_.items.size(); ++i) {
      const Item& item = region_.items[i];
      for (size_t w = 0; w < item.ways.size(); ++w) {
        if (item.ways[w].reader == actor) state.ways[i][w].push_back(to);
      }
    }
    state.labels[actor] = to;
    ++state.moved[actor];
    Reach(state);
  }

  Cost CostOf(const State& state) const {
    Cost cost;
    for (size_t i = 0; i < region_.items.size(); ++i) {
      const int own = state.labels[region_.items[i].producer];
      const Cost rescales = FewestRescales(own, state.ways[i]);
      cost += {rescales.rescales * region_.items[i].elements, rescales.rescales, 0};
    }
    return cost;
  }

  // Tries all sets of prefixes of the ways that contain the ways themselves.
  Cost FewestRescales(int own, const std::vector<Labels>& ways) const {
    std::set<Labels> wanted, between;
    for (const Labels& way : ways) {
      for (size_t n = 1; n < way.size(); ++n) between.insert({way.begin(), way.begin() + n});
      if (!way.empty()) wanted.insert(way);
    }
    std::vector<Labels> optional;
    for (const Labels& prefix : between) {
      if (!wanted.contains(prefix)) optional.push_back(prefix);
    }
    int64_t best = kForbidden;
    for (uint32_t chosen = 0; chosen < uint32_t{1} << optional.size(); ++chosen) {
      std::set<Labels> kept = wanted;
      kept.insert(Labels{});
      for (size_t i = 0; i < optional.size(); ++i) {
        if ((chosen >> i & 1) != 0) kept.insert(optional[i]);
      }
      int64_t count = 0;
      for (const Labels& prefix : kept) {
        if (!prefix.empty()) count += PriceOf(own, prefix, kept);
      }
      best = std::min(best, count);
    }
    return {0, best, 0};
  }

  // 0 if the value of a kept prefix has the label already, 1 if a Rescale must produce it.
  int64_t PriceOf(int own, const Labels& prefix, const std::set<Labels>& kept) const {
    int64_t price = kForbidden;
    for (size_t n = 0; n < prefix.size(); ++n) {
      if (!kept.contains(Labels(prefix.begin(), prefix.begin() + n))) continue;
      const int from = n == 0 ? own : prefix[n - 1];
      bool allowed = true;
      for (size_t i = n + 1; i < prefix.size(); ++i) {
        allowed = allowed && allowed_.merge.contains({from, prefix[i - 1], prefix[i]});
      }
      if (!allowed) continue;
      price = std::min<int64_t>(price, from == prefix.back() ? 0 : 1);
    }
    return price;
  }

  const Region& region_;
  const RandomMoves& allowed_;
  std::set<State> seen_;
  std::deque<State> queue_;
};

}  // namespace

RandomRegion MakeRandomRegion(std::mt19937& random, int movers) {
  return Maker(random, movers).Run();
}

Cost BestOfAllStates(const Region& region, const RandomMoves& allowed) {
  return Explorer(region, allowed).Run();
}

}  // namespace octavo::passes::placement
