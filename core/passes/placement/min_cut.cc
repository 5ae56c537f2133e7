// SPDX-License-Identifier: Apache-2.0
// Solves the placement as a minimum cut between the vertices "yes" and "no".  The binary variables
// are, for every site and position, whether the site is at or past that position, and for every
// stage, whether a consumer needs it.  A consumer past a stage needs the stage; a producer past it
// saves its cost; a producer is never past a stage that a consumer is not past.  The minimum cut
// has the least cost.
#if defined(__GNUC__) && !defined(__clang__)
// Boost's edge iterator contains an optional one that GCC considers uninitialized.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include "core/passes/placement/solve.h"

template <>
struct std::numeric_limits<octavo::passes::placement::Cost> {
  static constexpr bool is_specialized = true;
  static constexpr octavo::passes::placement::Cost max() {
    return {std::numeric_limits<int64_t>::max()};
  }
};

namespace octavo::passes::placement {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;

struct Vertex {
  boost::default_color_type color = boost::white_color;
  Traits::edge_descriptor predecessor = {};
  long distance = 0;
};
struct Arc {
  Cost capacity = 0, residual = 0;
  Traits::edge_descriptor reverse = {};
};
using Network = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Vertex, Arc>;

class Cutter {
 public:
  explicit Cutter(const Problem& problem) : problem_(problem) {
    no_ = boost::add_vertex(network_);
    yes_ = boost::add_vertex(network_);
    for (const Site& site : problem.sites) AddSite(site);
    for (const Value& value : problem.values) AddValue(value);
  }

  Positions Run() {
    boost::boykov_kolmogorov_max_flow(
        network_, boost::get(&Arc::capacity, network_), boost::get(&Arc::residual, network_),
        boost::get(&Arc::reverse, network_), boost::get(&Vertex::predecessor, network_),
        boost::get(&Vertex::color, network_), boost::get(&Vertex::distance, network_),
        boost::get(boost::vertex_index, network_), yes_, no_);
    Positions positions;
    for (size_t s = 0; s < problem_.sites.size(); ++s) {
      int position = problem_.sites[s].low;
      while (position < problem_.sites[s].high && IsYes(Past(s, position + 1))) ++position;
      positions.push_back(position);
    }
    return positions;
  }

 private:
  using Id = Traits::vertex_descriptor;

  bool IsYes(Id vertex) const { return network_[vertex].color == boost::black_color; }

  // The variable whether a site is at `position` or past it.
  Id Past(size_t site, int position) const {
    const Site& range = problem_.sites[site];
    if (position <= range.low) return yes_;
    if (position > range.high) return no_;
    return first_[site] + static_cast<Id>(position - range.low - 1);
  }

  void AddArc(Id from, Id to, Cost capacity) {
    if (from == to || from == no_ || to == yes_) return;
    const auto there = boost::add_edge(from, to, network_).first;
    const auto back = boost::add_edge(to, from, network_).first;
    network_[there].capacity = capacity;
    network_[there].reverse = back;
    network_[back].reverse = there;
  }
  void Implies(Id a, Id b) { AddArc(a, b, kForbidden); }

  void AddSite(const Site& site) {
    first_.push_back(boost::num_vertices(network_));
    for (int position = site.low + 1; position <= site.high; ++position) {
      const Id past = boost::add_vertex(network_);
      if (position > site.low + 1) Implies(past, past - 1);
      if (position > 0) AddArc(past, no_, {0, 0, 1});
      if (position <= 0) AddArc(yes_, past, {0, 0, 1});
    }
  }

  void AddValue(const Value& value) {
    if (value.consumers.empty()) return;
    const Cost price = value.price();
    const size_t first = boost::num_vertices(network_);
    for (size_t s = 1; s < value.stages.size(); ++s) {
      AddArc(boost::add_vertex(network_), no_, price);
    }
    const auto needed = [&](int stage) { return first + static_cast<size_t>(stage) - 1; };
    for (const End& consumer : value.consumers) {
      int position = problem_.sites[consumer.site].high;
      for (int stage = consumer.last; stage > 0; stage = value.stages[stage].parent) {
        Implies(Past(static_cast<size_t>(consumer.site), position), needed(stage));
        --position;
      }
    }
    int position = problem_.sites[value.producer.site].high;
    for (int stage = value.producer.last; stage > 0; stage = value.stages[stage].parent) {
      const Id past = Past(static_cast<size_t>(value.producer.site), position);
      AddArc(yes_, past, price);
      for (const End& consumer : value.consumers) Implies(past, PastStage(value, consumer, stage));
      --position;
    }
  }

  // The variable whether a consumer with the stage on its path is at the stage or past it.
  Id PastStage(const Value& value, const End& consumer, int stage) const {
    const int steps = value.stages[consumer.last].depth - value.stages[stage].depth;
    return Past(static_cast<size_t>(consumer.site), problem_.sites[consumer.site].high - steps);
  }

  const Problem& problem_;
  Network network_;
  Id no_ = 0, yes_ = 0;
  std::vector<Id> first_;  // the first variable of each site
};

}  // namespace

Positions SolveByMinCut(const Problem& problem) { return Cutter(problem).Run(); }

}  // namespace octavo::passes::placement
