// SPDX-License-Identifier: Apache-2.0
#include "core/passes/placement/region.h"

#include <algorithm>

namespace octavo::passes::placement {
namespace {

using Kind = Actor::Kind;
using Labels = std::vector<int>;

// A path, identified by its item and its index within the item.
struct Link {
  int item = 0;
  int path = 0;
};

class Builder {
 public:
  Builder(const Region& region, const AllowedMoves& allowed)
      : region_(region),
        allowed_(allowed),
        into_(region.actors.size()),
        out_(region.actors.size()),
        back_(region.actors.size()),
        ahead_(region.actors.size()) {
    for (size_t i = 0; i < region.items.size(); ++i) {
      const Item& item = region.items[i];
      for (size_t w = 0; w < item.paths.size(); ++w) {
        const Link link{static_cast<int>(i), static_cast<int>(w)};
        into_[item.paths[w].consumer].push_back(link);
        out_[item.producer].push_back(link);
      }
    }
  }

  Built Run() {
    const int actors = static_cast<int>(region_.actors.size());
    // Movers first, because the ends of paths use the movers' labels.
    const auto moves = [&](int a) { return region_.actors[a].kind == Kind::kMover; };
    for (int a = 0; a < actors; ++a) {
      if (moves(a)) back_[a] = Back(a);
    }
    for (int a = actors; a-- > 0;) {
      if (moves(a)) ahead_[a] = Ahead(a);
    }
    for (int a = 0; a < actors; ++a) {
      if (region_.actors[a].kind == Kind::kConsumer) back_[a] = Back(a);
      if (region_.actors[a].kind == Kind::kProducer) ahead_[a] = Ahead(a);
    }
    Built built;
    for (int a = 0; a < actors; ++a) {
      built.problem.sites.push_back(
          {-static_cast<int>(back_[a].size()), static_cast<int>(ahead_[a].size())});
    }
    for (const Item& item : region_.items) AddValue(item, built);
    return built;
  }

 private:
  // The labels before the actor's own, nearest first, that all paths into it share and the rules
  // allow.
  Labels Back(int actor) const {
    const Actor& own = region_.actors[actor];
    if (own.kind == Kind::kProducer || into_[actor].empty()) return {};
    Labels common = BackAlong(into_[actor][0]);
    for (const Link& link : into_[actor]) KeepCommon(BackAlong(link), common);
    const auto& allowed =
        own.kind == Kind::kMover ? allowed_.may_sink : allowed_.may_fold_into_consumer;
    size_t steps = 0;
    for (int to = own.label; steps < common.size() && steps < kMaxSteps; ++steps) {
      if (!allowed || !allowed(actor, common[steps], to)) break;
      to = common[steps];
    }
    common.resize(steps);
    return common;
  }

  Labels BackAlong(const Link& link) const {
    const Item& item = region_.items[link.item];
    const Labels& labels = item.paths[link.path].labels;
    if (labels.size() > kMaxSteps) return {};
    Labels back(labels.rbegin(), labels.rend());
    back.push_back(region_.actors[item.producer].label);
    back.erase(back.begin());  // the consumer's own label
    if (labels.empty()) back.clear();
    const Labels& further = back_[item.producer];
    back.insert(back.end(), further.begin(), further.end());
    return back;
  }

  // The labels after the actor's own that all paths out of it share and the rules allow.
  Labels Ahead(int actor) const {
    const Actor& own = region_.actors[actor];
    if (own.kind == Kind::kConsumer || out_[actor].empty()) return {};
    Labels common = LabelsAlong(out_[actor][0]);
    for (const Link& link : out_[actor]) KeepCommon(LabelsAlong(link), common);
    const auto& allowed =
        own.kind == Kind::kMover ? allowed_.may_hoist : allowed_.may_fold_into_producer;
    size_t steps = 0;
    for (int from = own.label; steps < common.size() && steps < kMaxSteps; ++steps) {
      if (!allowed || !allowed(actor, from, common[steps])) break;
      from = common[steps];
    }
    common.resize(steps);
    return common;
  }

  Labels LabelsAlong(const Link& link) const {
    const Path& path = region_.items[link.item].paths[link.path];
    if (path.labels.size() > kMaxSteps) return {};
    Labels ahead = path.labels;
    const Labels& further = ahead_[path.consumer];
    ahead.insert(ahead.end(), further.begin(), further.end());
    return ahead;
  }

  static void KeepCommon(const Labels& other, Labels& common) {
    common.erase(std::ranges::mismatch(common, other).in1, common.end());
  }

  // The stages of an item form a tree: the producer's labels, then the labels of each path and the
  // further labels of its consumer.  Paths share a common prefix.
  void AddValue(const Item& item, Built& built) {
    Value value{.elements = item.elements, .evaluated = item.evaluated};
    Labels labels;
    int origin = -1;
    const Labels& back = back_[item.producer];
    for (size_t i = back.size(); i-- > 0;) origin = Descend(origin, back[i], value, labels);
    origin = Descend(origin, region_.actors[item.producer].label, value, labels);
    int last = origin;
    for (const int label : ahead_[item.producer]) last = Descend(last, label, value, labels);
    value.producer = {item.producer, last};
    for (const Path& path : item.paths) {
      int at = origin;
      for (const int label : path.labels) at = Descend(at, label, value, labels);
      for (const int label : ahead_[path.consumer]) at = Descend(at, label, value, labels);
      value.consumers.push_back({path.consumer, at});
    }
    for (size_t s = 1; s < value.stages.size(); ++s)
      FindSources(static_cast<int>(s), value, labels);
    built.problem.values.push_back(std::move(value));
    built.labels.push_back(std::move(labels));
  }

  static int Descend(int from, int label, Value& value, Labels& labels) {
    for (size_t s = 0; s < value.stages.size(); ++s) {
      if (value.stages[s].parent == from && labels[s] == label) return static_cast<int>(s);
    }
    const int depth = from < 0 ? 0 : value.stages[from].depth + 1;
    value.stages.push_back({.parent = from, .depth = depth});
    labels.push_back(label);
    return static_cast<int>(value.stages.size()) - 1;
  }

  // Finds the ancestors from which one Rescale can compute the stage, by merging the Rescales
  // between them, starting with the first.
  void FindSources(int stage, Value& value, const Labels& labels) const {
    Stage& own = value.stages[stage];
    const Stage& parent = value.stages[own.parent];
    own.from = uint32_t{1} << parent.depth;
    if (!allowed_.may_merge) return;
    for (int above = parent.parent; above >= 0; above = value.stages[above].parent) {
      // The labels from `above` down to `stage`; the merges take place in this order.
      Labels path;
      for (int at = stage; at != above; at = value.stages[at].parent) path.push_back(labels[at]);
      std::ranges::reverse(path);
      bool allowed = true;
      for (size_t i = 1; i < path.size() && allowed; ++i) {
        allowed = allowed_.may_merge(labels[above], path[i - 1], path[i]);
      }
      if (!allowed) continue;
      const uint32_t bit = uint32_t{1} << value.stages[above].depth;
      own.from |= bit;
      if (labels[above] == labels[stage]) own.same |= bit;
    }
  }

  const Region& region_;
  const AllowedMoves& allowed_;
  std::vector<std::vector<Link>> into_, out_;  // by actor
  std::vector<Labels> back_, ahead_;
};

}  // namespace

Built BuildProblem(const Region& region, const AllowedMoves& allowed) {
  return Builder(region, allowed).Run();
}

}  // namespace octavo::passes::placement
