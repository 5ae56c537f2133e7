// SPDX-License-Identifier: Apache-2.0
// Dynamic programming by variable elimination.  The variables are the sites' positions and, for
// every value, the set of stages that are kept.  Eliminates one variable after another, the one
// with the fewest neighbours first: a new table over these neighbours holds the least cost over the
// variable's choices.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/passes/placement/solve.h"

namespace octavo::passes::placement {
namespace {

constexpr size_t kMaxStates = 512;

bool IsForbidden(const Cost& cost) { return cost.elements >= kForbidden; }
Cost Sum(const Cost& a, const Cost& b) {
  return IsForbidden(a) || IsForbidden(b) ? Cost{kForbidden, 0, 0} : a + b;
}

// A cost for every combination of its variables' choices; the first variable varies fastest.
struct Table {
  std::vector<int> variables = {};
  std::vector<Cost> costs = {};
};

// The set of stages of a value that exist: the producer's stage, and those that Rescales compute.
struct State {
  int from = 0;
  std::vector<bool> kept = {};  // `from` included
  Cost cost = 0;
};

// Enumerates all states in which every kept stage has a source.
class States {
 public:
  explicit States(const Value& value) : value_(value) {}

  // False if there are too many states.
  bool Run(std::vector<State>& states) {
    for (int from = value_.producer.last; from >= 0; from = value_.stages[from].parent) {
      State state{.from = from, .kept = std::vector<bool>(value_.stages.size(), false)};
      state.kept[from] = true;
      Visit(from + 1, state, states);
    }
    return states.size() <= kMaxStates;
  }

 private:
  void Visit(size_t stage, const State& state, std::vector<State>& states) {
    if (states.size() > kMaxStates) return;
    if (stage == value_.stages.size()) {
      states.push_back(state);
      return;
    }
    Visit(stage + 1, state, states);
    uint32_t above = 0;
    for (int at = value_.stages[stage].parent; at >= 0; at = value_.stages[at].parent) {
      if (state.kept[at]) above |= uint32_t{1} << value_.stages[at].depth;
    }
    const Stage& here = value_.stages[stage];
    if (((here.from | here.same) & above) == 0) return;
    State with = state;
    with.kept[stage] = true;
    if ((here.same & above) == 0) with.cost += value_.price();
    Visit(stage + 1, with, states);
  }

  const Value& value_;
};

class Eliminator {
 public:
  Eliminator(const Problem& problem, int64_t max_table)
      : problem_(problem), max_table_(max_table) {}

  std::optional<Positions> Run() {
    for (const Site& site : problem_.sites) choices_.push_back(site.choices());
    for (const Value& value : problem_.values) {
      states_.emplace_back();
      if (!States(value).Run(states_.back())) return std::nullopt;
      choices_.push_back(static_cast<int>(states_.back().size()));
    }
    tables_of_.resize(choices_.size());
    AddTables();
    if (!EliminateAll()) return std::nullopt;
    return Recover();
  }

 private:
  struct Step {
    int variable = 0;
    std::vector<int> neighbours = {};
    std::vector<int> best = {};  // best choice, by the neighbours' choices
  };

  void Add(Table table) {
    for (const int variable : table.variables) {
      tables_of_[variable].insert(static_cast<int>(tables_.size()));
    }
    tables_.push_back(std::move(table));
  }

  void AddTables() {
    const int sites = static_cast<int>(problem_.sites.size());
    for (int s = 0; s < sites; ++s) {
      Table moves{.variables = {s}};
      for (int p = problem_.sites[s].low; p <= problem_.sites[s].high; ++p) {
        moves.costs.push_back({0, 0, std::abs(p)});
      }
      Add(std::move(moves));
    }
    for (size_t v = 0; v < problem_.values.size(); ++v) {
      const Value& value = problem_.values[v];
      const int variable = sites + static_cast<int>(v);
      Table prices{.variables = {variable}};
      for (const State& state : states_[v]) prices.costs.push_back(state.cost);
      Add(std::move(prices));
      AddAgreement(value, variable, value.producer,
                   [](const State& state, int stage) { return state.from == stage; });
      for (const End& consumer : value.consumers) {
        AddAgreement(value, variable, consumer, [&](const State& state, int stage) {
          return state.kept[stage] && IsOnTheWay(value, state.from, stage);
        });
      }
    }
  }

  template <class Agrees>
  void AddAgreement(const Value& value, int variable, const End& end, Agrees&& agrees) {
    Table table{.variables = {end.site, variable}};
    const Site& site = problem_.sites[end.site];
    for (const State& state : states_[variable - static_cast<int>(problem_.sites.size())]) {
      for (int p = site.low; p <= site.high; ++p) {
        const bool good = agrees(state, StageAt(problem_, value, end, p));
        table.costs.push_back({good ? 0 : kForbidden, 0, 0});
      }
    }
    Add(std::move(table));
  }

  std::set<int> Neighbours(int variable) const {
    std::set<int> neighbours;
    for (const int table : tables_of_[variable]) {
      neighbours.insert(tables_[table].variables.begin(), tables_[table].variables.end());
    }
    neighbours.erase(variable);
    return neighbours;
  }

  bool EliminateAll() {
    std::set<std::pair<size_t, int>> queue;
    std::vector<size_t> degree(choices_.size());
    for (size_t v = 0; v < choices_.size(); ++v) {
      degree[v] = Neighbours(static_cast<int>(v)).size();
      queue.emplace(degree[v], static_cast<int>(v));
    }
    while (!queue.empty()) {
      const int variable = queue.begin()->second;
      queue.erase(queue.begin());
      const std::set<int> neighbours = Neighbours(variable);
      if (!Eliminate(variable, neighbours)) return false;
      for (const int other : neighbours) {
        queue.erase({degree[other], other});
        degree[other] = Neighbours(other).size();
        queue.emplace(degree[other], other);
      }
    }
    return true;
  }

  bool Eliminate(int variable, const std::set<int>& neighbours) {
    Step step{.variable = variable, .neighbours = {neighbours.begin(), neighbours.end()}};
    int64_t entries = 1;
    for (const int other : step.neighbours) {
      entries *= choices_[other];
      if (entries * choices_[variable] > max_table_) return false;
    }
    Table rest{.variables = step.neighbours};
    for (int64_t entry = 0; entry < entries; ++entry) {
      int64_t left = entry;
      for (size_t i = 0; i < step.neighbours.size(); ++i) {
        chosen_[step.neighbours[i]] = static_cast<int>(left % choices_[step.neighbours[i]]);
        left /= choices_[step.neighbours[i]];
      }
      Cost least{kForbidden, 0, 0};
      int best = 0;
      for (int c = 0; c < choices_[variable]; ++c) {
        chosen_[variable] = c;
        const Cost cost = CostAround(variable);
        if (cost < least) {
          least = cost;
          best = c;
        }
      }
      rest.costs.push_back(least);
      step.best.push_back(best);
    }
    const std::set<int> done = std::move(tables_of_[variable]);
    for (const int table : done) {
      for (const int other : tables_[table].variables) tables_of_[other].erase(table);
      tables_[table] = {};
    }
    if (!step.neighbours.empty()) Add(std::move(rest));
    steps_.push_back(std::move(step));
    return true;
  }

  // The sum over all tables that contain the variable, at the current choices.
  Cost CostAround(int variable) const {
    Cost cost;
    for (const int table : tables_of_[variable]) cost = Sum(cost, tables_[table].costs[At(table)]);
    return cost;
  }

  size_t At(int table) const {
    size_t at = 0, stride = 1;
    for (const int variable : tables_[table].variables) {
      at += stride * static_cast<size_t>(chosen_.at(variable));
      stride *= static_cast<size_t>(choices_[variable]);
    }
    return at;
  }

  Positions Recover() {
    Positions positions(problem_.sites.size());
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      size_t at = 0, stride = 1;
      for (const int variable : step->neighbours) {
        at += stride * static_cast<size_t>(chosen_[variable]);
        stride *= static_cast<size_t>(choices_[variable]);
      }
      chosen_[step->variable] = step->best[at];
    }
    for (size_t s = 0; s < positions.size(); ++s) {
      positions[s] = problem_.sites[s].low + chosen_[static_cast<int>(s)];
    }
    return positions;
  }

  const Problem& problem_;
  const int64_t max_table_;
  std::vector<std::vector<State>> states_;  // by value
  std::vector<int> choices_;                // by variable: sites, then values
  std::vector<Table> tables_;
  std::vector<std::set<int>> tables_of_;
  std::vector<int> chosen_ = std::vector<int>(problem_.sites.size() + problem_.values.size(), 0);
  std::vector<Step> steps_;
};

}  // namespace

std::optional<Positions> SolveByElimination(const Problem& problem, int64_t max_table) {
  return Eliminator(problem, max_table).Run();
}

}  // namespace octavo::passes::placement
