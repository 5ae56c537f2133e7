// SPDX-License-Identifier: Apache-2.0
// A group is a set of values that must have one type (same_type_groups.h).  A Rescale links two
// groups.  Sharing one pair of parameters between both saves the Rescale and a rounding, but may
// add noise for the consumers of the group with the finer scale.  The rule therefore applies only
// if, by the histograms, the noise of all consumers together does not grow.  It first tries all
// groups that Rescales link together, then the two groups of each single Rescale.
#include "core/passes/rescale/align_parameters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/passes/rescale/absorb.h"
#include "core/passes/rescale/quantization_noise.h"
#include "core/passes/rewrite.h"
#include "core/profile/choose_params.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

// Each round but the last removes Rescales.
constexpr int kMaxRounds = 16;
// In a region with more nodes than this, a single link is judged only by the nodes at its own two
// groups: their consumers and the Rescales that leave them.
constexpr size_t kMaxJudgedNodes = 160;
// For more groups than this, the groups' own types are not candidates.
constexpr size_t kMaxCurrentTypes = 16;
// The factor by which the noise of a single consumer may grow.  A bound on the sum alone would let
// one consumer's noise grow unnoticed if another's is large anyway.
constexpr double kMaxSingleFactor = 2;

// An entry of the graph's metadata: a job has judged by a profile which Rescales stay, under a
// limit that allows the rule.  A job on its result has no profile, and keeps to that.
const std::string kJudgedKey = "octavo.judged_rescales";

struct Link {
  NodeId rescale = {};
  int from = -1, to = -1;  // groups
  int64_t elements = 0;
};

// Groups that Rescales link together, and the nodes that consume or compute their values.
struct Region {
  std::vector<Link> links = {};
  int root = -1;           // of its groups
  std::set<int> own = {};  // the groups that count, if not all of the root
  std::vector<NodeId> nodes = {};
};

// The factors by which new types change the consumers' noise: of all together, and the largest
// factor of a single one.
struct Change {
  double together = 1, most = 1;
  bool Good() const { return together <= 1 + 1e-9 && most <= kMaxSingleFactor; }
  bool BetterThan(const Change& other) const {
    if (Good() != other.Good()) return Good();
    return together < other.together;
  }
};

double Ratio(double is, double was) { return was > 0 ? is / was : is > 0 ? HUGE_VAL : 1; }

Change ChangeOf(const std::vector<double>& before, const std::vector<double>& after) {
  Change change;
  double was = 0, is = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    was += before[i];
    is += after[i];
    change.most = std::max(change.most, Ratio(after[i], before[i]));
  }
  change.together = Ratio(is, was);
  return change;
}

class Aligner {
 public:
  Aligner(Graph& graph, Context& context, std::map<NodeId, std::string>& why)
      : graph_(graph),
        context_(context),
        target_(context.settings().target),
        groups_(graph, target_),
        noise_(graph, groups_, context.settings(), context.findings()),
        why_(why) {}

  // One round; returns whether the rule was applied.
  Result<bool> Run() {
    bool applied = false;
    for (Region& region : Regions()) {
      OCTAVO_CHECK(context_.settings().stop.Check());
      OCTAVO_TRY(const bool whole, Try(region, region.links));
      applied |= whole;
      if (whole || region.links.size() == 1) continue;
      std::ranges::stable_sort(region.links, std::greater<>{}, &Link::elements);
      std::set<int> touched;
      for (const Link& link : region.links) {
        if (touched.count(link.from) || touched.count(link.to)) continue;
        OCTAVO_TRY(const bool done, Try(PartOf(region, link), {link}));
        if (!done) continue;
        applied = true;
        touched.insert({link.from, link.to});
      }
    }
    return applied;
  }

 private:
  std::vector<Link> Links() const {
    std::vector<Link> links;
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      if (!IsRescale(node)) continue;
      const Type &from = graph_.type(node.inputs[0]), &to = graph_.type(node.result());
      // The Rescale would stay: it names an output, or --int16 asks for one of the two dtypes.
      if (from.SameQuantization(to) || from.dtype != to.dtype) continue;
      const Link link{id, groups_.Of(node.inputs[0]), groups_.Of(node.result()), to.elements()};
      // Skips a Rescale from a group to itself: the group has two types along its own paths.
      if (link.from >= 0 && link.to >= 0 && link.from != link.to) links.push_back(link);
    }
    return links;
  }

  // The nodes by which a single link is judged.
  Region PartOf(const Region& region, const Link& link) {
    if (region.nodes.size() <= kMaxJudgedNodes) return region;
    if (met_.empty()) {
      met_.resize(groups_.size());
      int64_t order = 0;
      for (const NodeId id : graph_.nodes()) {
        ++order;
        const Node& node = graph_.node(id);
        std::set<int> groups;
        for (const auto& values : {node.inputs, node.results}) {
          for (const ValueId value : values) {
            if (value && groups_.Of(value) >= 0) groups.insert(groups_.Of(value));
          }
        }
        for (const int group : groups) met_[group].push_back({order, id});
      }
    }
    std::map<int64_t, NodeId> nodes;
    for (const int group : {link.from, link.to})
      nodes.insert(met_[group].begin(), met_[group].end());
    Region part{.links = {link}, .own = {link.from, link.to}};
    for (const auto& [order, id] : nodes) part.nodes.push_back(id);
    return part;
  }

  bool Counts(const Region& region, int group) {
    return region.own.empty() ? RootOf(group) == region.root : region.own.count(group) > 0;
  }

  // The union-find root of the groups that Rescales link with this one.
  int RootOf(int group) {
    while (root_[group] != group) group = root_[group] = root_[root_[group]];
    return group;
  }

  std::vector<Region> Regions() {
    const std::vector<Link> links = Links();
    root_.resize(groups_.size());
    for (int i = 0; i < groups_.size(); ++i) root_[i] = i;
    for (const Link& link : links) root_[RootOf(link.from)] = RootOf(link.to);
    std::map<int, Region> regions;
    for (const Link& link : links) {
      Region& region = regions[RootOf(link.from)];
      region.root = RootOf(link.from);
      region.links.push_back(link);
    }
    if (regions.empty()) return {};
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      std::set<int> roots;
      const auto note = [&](ValueId value) {
        if (value && groups_.Of(value) >= 0) roots.insert(RootOf(groups_.Of(value)));
      };
      std::ranges::for_each(node.inputs, note);
      std::ranges::for_each(node.results, note);
      for (const int at : roots) {
        if (const auto region = regions.find(at); region != regions.end()) {
          region->second.nodes.push_back(id);
        }
      }
    }
    std::vector<Region> list;
    for (auto& [at, region] : regions) list.push_back(std::move(region));
    return list;
  }

  static void AddUnlike(const Type& type, std::vector<Type>& types) {
    const auto same = [&](const Type& other) { return type.SameQuantization(other); };
    if (std::ranges::none_of(types, same)) types.push_back(type);
  }

  // The current types of the groups.
  std::vector<Type> CurrentTypes(const std::set<int>& groups) const {
    std::vector<Type> types;
    for (const int group : groups) AddUnlike(groups_.TypeOf(group), types);
    return types;
  }

  // Types that are calibrated on the merged histograms of the groups' values.
  std::vector<Type> CalibratedTypes(const std::set<int>& groups) {
    profile::Entry together;
    for (const int group : groups) {
      for (const ValueId id : groups_.members(group)) {
        const Node* producer = graph_.Producer(id);
        if (producer == nullptr || groups_.IsSameScale(*producer) || IsRescale(*producer)) continue;
        const profile::Histogram* histogram = noise_.Of(id);
        if (histogram == nullptr) continue;
        if (!together.histogram) together.histogram.emplace();
        together.histogram->Merge(*histogram);
      }
    }
    if (!together.histogram) return {};
    together.min = together.histogram->min();
    together.max = together.histogram->max();
    const auto scheme = profile::SchemeOf(target_, groups_.TypeOf(*groups.begin()).dtype);
    std::vector<Type> types;
    using Method = profile::Calibration::Method;
    for (const profile::Calibration& calibration :
         {context_.settings().options.calibration, profile::Calibration{Method::kMinMax},
          profile::Calibration{Method::kMse}}) {
      const profile::CalibratedRange range = profile::Calibrate(together, calibration, scheme);
      const profile::Params params = profile::ChooseParams(range.min, range.max, scheme);
      AddUnlike({scheme.dtype, {}, ir::Quant::PerTensor(params.scale, params.zero_point), {}},
                types);
    }
    return types;
  }

  std::string WhyStays(const std::set<int>& groups, const Type& type) {
    for (const int group : groups) {
      if (groups_.TypeOf(group).SameQuantization(type)) continue;
      if (std::string why = groups_.WhyStays(group, type); !why.empty()) return why;
      for (const ValueId id : groups_.members(group)) {
        if (std::string why = noise_.WhyLimitStays(id, type); !why.empty()) return why;
      }
    }
    return {};
  }

  std::optional<std::vector<double>> NoiseAt(const Region& region, const std::set<int>& groups,
                                             const Type* type) {
    return noise_.Ratios(
        region.nodes, [&](int group) { return Counts(region, group); },
        [&](int group) -> const Type& {
          return type && groups.count(group) ? *type : groups_.TypeOf(group);
        });
  }

  struct Choice {
    std::optional<Type> best = {};
    Change least = {};
    std::string stays = {};  // why a candidate is not possible
  };

  void Judge(const Region& region, const std::set<int>& groups, const std::vector<double>& before,
             const std::vector<Type>& types, Choice& choice) {
    for (const Type& type : types) {
      if (std::string why = WhyStays(groups, type); !why.empty()) {
        if (choice.stays.empty()) choice.stays = std::move(why);
        continue;
      }
      const Change change = ChangeOf(before, *NoiseAt(region, groups, &type));
      if (choice.best && !change.BetterThan(choice.least)) continue;
      choice.best = type;
      choice.least = change;
    }
  }

  // Applies one pair of parameters to all linked groups if that is possible and the noise permits
  // it.
  Result<bool> Try(const Region& region, const std::vector<Link>& links) {
    std::set<int> groups;
    for (const Link& link : links) groups.insert({link.from, link.to});
    const auto keep = [&](const std::string& why) {
      for (const Link& link : links) why_[link.rescale] = why;
      return false;
    };
    const std::optional<std::vector<double>> before = NoiseAt(region, groups, nullptr);
    if (!before) {
      return keep(
          fmt::format("without a histogram of '{}' the noise of shared parameters is unknown",
                      noise_.missing()));
    }
    const Rule& rule = noise_.assumes() ? kUnifyParametersWithoutProfile : kUnifyParameters;
    const bool allowed = context_.Allows(rule.effect);
    Choice choice;
    if (groups.size() <= kMaxCurrentTypes) {
      Judge(region, groups, *before, CurrentTypes(groups), choice);
    }
    // If the limit forbids the rule, any good candidate suffices for the reason; no need to find
    // the best.
    const bool enough = !allowed && choice.best && choice.least.Good();
    if (!enough) Judge(region, groups, *before, CalibratedTypes(groups), choice);
    const auto& [best, least, stays] = choice;
    if (!best) return keep(fmt::format("parameters cannot be shared: {}", stays));
    if (!least.Good()) {
      return keep(
          fmt::format("shared parameters would multiply the noise of all consumers together by "
                      "{:.3g}, and of one of them by {:.3g}{}{}{}",
                      least.together, least.most,
                      noise_.assumes() ? ", if values are uniform over their types" : "",
                      stays.empty() ? "" : "; other candidates fail: ", stays));
    }
    if (!allowed) {
      return keep(fmt::format("{} has the effect {}, which exceeds the limit {}", rule.id,
                              Name(rule.effect), Name(context_.settings().limit)));
    }
    OCTAVO_CHECK(Apply(rule, links, groups, *best));
    return true;
  }

  Status Apply(const Rule& rule, const std::vector<Link>& links, const std::set<int>& groups,
               const Type& type) {
    std::vector<std::string> values;
    for (const int group : groups) {
      if (groups_.TypeOf(group).SameQuantization(type)) continue;
      for (const ValueId id : groups_.members(group)) values.push_back(graph_.name(id));
      OCTAVO_CHECK(Retype(graph_, groups_.members(group), type, target_.bias_bits));
    }
    context_.Applied(rule, graph_.node(links.front().rescale).name, std::move(values));
    context_.Checkpoint(graph_);
    return {};
  }

  Graph& graph_;
  Context& context_;
  const target::Target& target_;
  SameTypeGroups groups_;
  QuantizationNoise noise_;
  std::map<NodeId, std::string>& why_;
  std::vector<int> root_ = {};  // by group: parent in the union-find forest
  // By group: the nodes that consume or compute its values, with their positions in graph order.
  std::vector<std::vector<std::pair<int64_t, NodeId>>> met_ = {};
};

// Appends these reasons to those of other rules, for the Rescales that stay; whether one does.
bool RecordReasons(const Graph& graph, const std::map<NodeId, std::string>& why, Context& context) {
  bool any = false;
  std::map<std::string, std::string> known;
  for (const Kept& kept : context.findings().kept) known[kept.node] = kept.reason;
  for (const NodeId id : graph.nodes()) {
    const auto at = why.find(id);
    if (at == why.end() || !IsRescale(graph.node(id))) continue;
    any = true;
    const std::string& name = graph.node(id).name;
    const auto before = known.find(name);
    context.Keep(name, before == known.end() ? at->second
                                             : fmt::format("{}; {}", before->second, at->second));
  }
  return any;
}

// Whether weights are still pending.  Such a graph comes from a job that stopped before
// merge-constants and has already chosen all parameters; resuming it must give the same bytes as a
// single run.
bool IsResumed(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i] || node.op->RoleOf(i) != ir::Role::kWeight) continue;
      const Node* quantize = graph.Producer(node.inputs[i]);
      if (IsOwn(quantize, "Quantize") && graph.IsConstant(quantize->inputs[0])) return true;
    }
  }
  return false;
}

}  // namespace

Result<bool> AlignParameters(Graph& graph, Context& context) {
  const bool profiled = context.settings().profile != nullptr;
  if (!profiled && (IsResumed(graph) || graph.metadata.contains(kJudgedKey))) return false;
  bool any = false;
  std::map<NodeId, std::string> why;
  for (int round = 0; round < kMaxRounds; ++round) {
    OCTAVO_TRY(const bool applied, Aligner(graph, context, why).Run());
    if (!applied) break;
    any = true;
    AbsorbRescales(graph, context);
  }
  const bool kept = RecordReasons(graph, why, context);
  if (profiled && context.Allows(kUnifyParameters.effect)) {
    graph.metadata.erase(kJudgedKey);
    if (kept) graph.metadata[kJudgedKey] = "by a profile";
  }
  return any;
}

}  // namespace octavo::passes
