// SPDX-License-Identifier: Apache-2.0
#include "core/passes/placement/solve.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace octavo::passes::placement {
namespace {

// No search for problems with more sites than this.
constexpr size_t kSearchSites = 24;

// Connected sites, by union-find.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }

  int Find(int a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }
  void Join(int a, int b) { parent_[std::max(Find(a), Find(b))] = std::min(Find(a), Find(b)); }

 private:
  std::vector<int> parent_;
};

// A part as a separate problem, and the indices of its sites in the whole problem.
struct Piece {
  Problem problem = {};
  std::vector<int> sites = {};
};

class Splitter {
 public:
  explicit Splitter(const Problem& problem) : problem_(problem), groups_(problem.sites.size()) {}

  std::vector<Piece> Run() {
    for (const Value& value : problem_.values) {
      int first = -1;
      for (const int site : SitesOf(value)) {
        if (!Moves(site)) continue;
        if (first < 0) first = site;
        groups_.Join(first, site);
      }
    }
    for (const Value& value : problem_.values) {
      for (const int site : SitesOf(value)) {
        if (!Moves(site)) continue;
        AddValue(value, PieceOf(site));
        break;
      }
    }
    return std::move(pieces_);
  }

 private:
  bool Moves(int site) const { return problem_.sites[site].choices() > 1; }

  static std::vector<int> SitesOf(const Value& value) {
    std::vector<int> sites = {value.producer.site};
    for (const End& consumer : value.consumers) sites.push_back(consumer.site);
    return sites;
  }

  size_t PieceOf(int site) {
    int& piece = piece_of_[groups_.Find(site)];
    if (piece < 0) {
      piece = static_cast<int>(pieces_.size());
      pieces_.emplace_back();
    }
    return static_cast<size_t>(piece);
  }

  // A site that cannot move may be in several pieces; it has the same position in each.
  int SiteIn(size_t piece, int site) {
    auto& [in, local] = local_[site];
    if (in == static_cast<int>(piece)) return local;
    in = static_cast<int>(piece);
    local = static_cast<int>(pieces_[piece].sites.size());
    pieces_[piece].sites.push_back(site);
    pieces_[piece].problem.sites.push_back(problem_.sites[site]);
    return local;
  }

  void AddValue(const Value& value, size_t piece) {
    Value own = value;
    own.producer.site = SiteIn(piece, value.producer.site);
    for (End& consumer : own.consumers) consumer.site = SiteIn(piece, consumer.site);
    pieces_[piece].problem.values.push_back(std::move(own));
  }

  const Problem& problem_;
  Groups groups_;
  std::vector<Piece> pieces_;
  std::vector<int> piece_of_ = std::vector<int>(problem_.sites.size(), -1);
  std::vector<std::pair<int, int>> local_ =
      std::vector<std::pair<int, int>>(problem_.sites.size(), {-1, -1});
};

Positions SolvePiece(const Problem& problem, Method& method) {
  const bool shortcuts = std::ranges::any_of(problem.values, HasShortcuts);
  method = Method::kMinCut;
  Positions cut = SolveByMinCut(problem);
  if (!shortcuts) return cut;
  method = Method::kElimination;
  if (std::optional<Positions> exact = SolveByElimination(problem)) return *std::move(exact);
  const Positions here(problem.sites.size(), 0);
  Positions best = Improve(problem, here);
  cut = Improve(problem, std::move(cut));
  if (CostOf(problem, cut) < CostOf(problem, best)) best = std::move(cut);
  method = Method::kSearch;
  if (problem.sites.size() <= kSearchSites) {
    if (std::optional<Positions> exact = SolveBySearch(problem, best)) return *std::move(exact);
  }
  method = Method::kLocal;
  return best;
}

}  // namespace

std::string_view Name(Method method) {
  constexpr std::array kNames = {"min-cut", "elimination", "search", "local"};
  return kNames[static_cast<size_t>(method)];
}

Solution Solve(const Problem& problem) {
  Solution solution{.positions = Positions(problem.sites.size(), 0)};
  for (Piece& piece : Splitter(problem).Run()) {
    Part part;
    const Positions positions = SolvePiece(piece.problem, part.method);
    for (size_t s = 0; s < positions.size(); ++s) {
      solution.positions[piece.sites[s]] = positions[s];
      if (piece.problem.sites[s].choices() > 1) part.sites.push_back(piece.sites[s]);
    }
    solution.parts.push_back(std::move(part));
  }
  return solution;
}

}  // namespace octavo::passes::placement
