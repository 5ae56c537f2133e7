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
      for (int o = 0; o < operands; ++o) AddPath(Pick(0, earlier - 1), mover);
      const int results = Chance(0.1) ? 2 : 1;
      for (int r = 0; r < results; ++r) AddItem(mover);
    }
    for (size_t i = 0; i < region().items.size(); ++i) {
      // A few values have no consumer.
      if (Chance(region().items[i].paths.empty() ? 0.1 : 0.7)) continue;
      AddPath(static_cast<int>(i), AddActor(Kind::kConsumer));
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
  void AddItem(int producer) { region().items.push_back({Pick(1, 9), producer, {}, Chance(0.25)}); }

  void AddPath(int item, int actor) {
    Path path{.consumer = actor};
    int at = region().actors[region().items[item].producer].label;
    const int label = region().actors[actor].label;
    for (int detours = Chance(0.2) ? Pick(1, 2) : 0; detours > 0; --detours) {
      const int by = (at + Pick(1, labels_ - 1)) % labels_;
      if (by == label && detours == 1 && at == label) break;
      path.labels.push_back(at = by);
    }
    if (at != label) path.labels.push_back(label);
    region().items[item].paths.push_back(std::move(path));
  }

  void DrawAllowedMoves() {
    const double merging = Pick(0, 2) * 0.5;
    const int actors = static_cast<int>(region().actors.size());
    for (int a = 0; a < std::max(actors, labels_); ++a) {
      const bool consumer_folds = Chance(0.3), producer_folds = Chance(0.3);
      for (int from = 0; from < labels_; ++from) {
        for (int to = 0; to < labels_; ++to) {
          if (Chance(0.9)) made_.allowed.sink.insert({a, from, to});
          if (Chance(0.9)) made_.allowed.hoist.insert({a, from, to});
          if (consumer_folds && Chance(0.8)) made_.allowed.fold_into_consumer.insert({a, from, to});
          if (producer_folds && Chance(0.8)) made_.allowed.fold_into_producer.insert({a, from, to});
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

// The positions of all Rescales: the label and the moves of each actor, and the labels of each
// path.
struct State {
  Labels labels = {}, moved = {};
  std::vector<std::vector<Labels>> paths = {};  // by item

  auto operator<=>(const State&) const = default;
};

class Explorer {
 public:
  Explorer(const Region& region, const RandomMoves& allowed) : region_(region), allowed_(allowed) {}

  Cost Run() {
    State start{.moved = Labels(region_.actors.size(), 0)};
    for (const Actor& actor : region_.actors) start.labels.push_back(actor.label);
    for (const Item& item : region_.items) {
      start.paths.emplace_back();
      for (const Path& path : item.paths) start.paths.back().push_back(path.labels);
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
    if (kind != Kind::kConsumer) Later(state, actor, kind == Kind::kMover);
  }

  void Earlier(State state, int actor, bool moves_on) {
    const int to = state.labels[actor];
    int from = -1;
    for (size_t i = 0; i < region_.items.size(); ++i) {
      const Item& item = region_.items[i];
      for (size_t w = 0; w < item.paths.size(); ++w) {
        Labels& path = state.paths[i][w];
        if (item.paths[w].consumer == actor) {
          if (path.empty()) return;
          path.pop_back();
          const int before = path.empty() ? state.labels[item.producer] : path.back();
          if (from >= 0 && from != before) return;
          from = before;
        }
        if (item.producer == actor) path.insert(path.begin(), to);
      }
    }
    const auto& rule = moves_on ? allowed_.sink : allowed_.fold_into_consumer;
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
      for (Labels& path : state.paths[i]) {
        if (path.empty() || (to >= 0 && to != path.front())) return;
        to = path.front();
        path.erase(path.begin());
      }
    }
    const auto& rule = moves_on ? allowed_.hoist : allowed_.fold_into_producer;
    if (to < 0 || state.moved[actor] == kMaxSteps || !rule.contains({actor, from, to})) return;
    for (size_t i = 0; i < region_.items.size(); ++i) {
      const Item& item = region_.items[i];
      for (size_t w = 0; w < item.paths.size(); ++w) {
        if (item.paths[w].consumer == actor) state.paths[i][w].push_back(to);
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
      const Cost rescales = FewestRescales(own, state.paths[i]);
      if (region_.items[i].evaluated) continue;
      cost += {rescales.rescales * region_.items[i].elements, rescales.rescales, 0};
    }
    return cost;
  }

  // Tries all sets of prefixes of the paths that contain the paths themselves.
  Cost FewestRescales(int own, const std::vector<Labels>& paths) const {
    std::set<Labels> wanted, between;
    for (const Labels& path : paths) {
      for (size_t n = 1; n < path.size(); ++n) between.insert({path.begin(), path.begin() + n});
      if (!path.empty()) wanted.insert(path);
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
