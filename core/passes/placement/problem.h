// SPDX-License-Identifier: Apache-2.0
// The placement problem as numbers, without a graph: sites that move along the labels of the paths
// through them, and values that need a Rescale for every label that a consumer requires.
//
// A label is a set of quantization parameters.  A site is an op whose operands and results have one
// label, or an end of a path.  Its position is the number of Rescales, in path order, that were
// moved from after it to before it; 0 is its position in the graph.  A value's stages are the
// labels that it has on the way to its consumers: a tree with the label at the producer's lowest
// position as its root.
//
//     position of the site:   0                    1
//     path:   x -[A]- Op -R- [B] -> y     x -R- [B]- Op -[B] -> y       [L]: label, R: Rescale
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace octavo::passes::placement {

// The cost of a placement; costs compare field by field in this order.  Costs form an ordered
// group, so that a flow can use them as capacities.
struct Cost {
  int64_t elements = 0;  // number of elements that Rescales convert
  int64_t rescales = 0;
  int64_t moves = 0;  // number of moves of Rescales past sites, in either direction

  constexpr Cost() = default;
  constexpr Cost(int64_t all) : elements(all), rescales(all), moves(all) {}  // NOLINT: Cost(0)
  constexpr Cost(int64_t e, int64_t r, int64_t m) : elements(e), rescales(r), moves(m) {}

  auto operator<=>(const Cost&) const = default;
  explicit constexpr operator bool() const { return *this != Cost(); }
  constexpr Cost& operator+=(const Cost& other) {
    elements += other.elements;
    rescales += other.rescales;
    moves += other.moves;
    return *this;
  }
  constexpr Cost& operator-=(const Cost& other) {
    elements -= other.elements;
    rescales -= other.rescales;
    moves -= other.moves;
    return *this;
  }
  friend constexpr Cost operator+(Cost a, const Cost& b) { return a += b; }
  friend constexpr Cost operator-(Cost a, const Cost& b) { return a -= b; }
};

// The cost of an invalid choice.  The sum of a few million of these does not overflow.
inline constexpr int64_t kForbidden = int64_t{1} << 40;

// The lowest and the highest position.
struct Site {
  int low = 0;
  int high = 0;

  int choices() const { return high - low + 1; }
};

struct Stage {
  int parent = -1;  // an earlier stage of the value; -1: the root
  int depth = 0;
  // Bit d: one Rescale from the ancestor of depth d computes this stage; if stages are between, by
  // rules that drop a rounding.  The parent's bit is always set.
  uint32_t from = 0;
  // Bit d: the stored values of that ancestor are also those of this stage, so no Rescale is
  // needed.
  uint32_t same = 0;
};
inline constexpr int kMaxDepth = 30;

// An end of a value and the stage at its site: `last` at the site's highest position, and one stage
// nearer to the root for each position below that.
struct End {
  int site = 0;
  int last = 0;
};

struct Value {
  int64_t elements = 0;
  End producer = {};
  std::vector<Stage> stages = {};  // [0] is the root; parents come first
  std::vector<End> consumers = {};
  bool evaluated = false;

  // The cost of one Rescale of the value.
  Cost price() const { return evaluated ? Cost() : Cost(elements, 1, 0); }
};

struct Problem {
  std::vector<Site> sites = {};
  std::vector<Value> values = {};
};

// A position for each site.
using Positions = std::vector<int>;

// The stage of a value at an end whose site is at `position`.
int StageAt(const Problem& problem, const Value& value, const End& end, int position);

// Whether `ancestor` is on the way from the root to `stage`, or is `stage`.
bool IsOnTheWay(const Value& value, int ancestor, int stage);

// The computation of a stage: by a Rescale from stage `source`, or as the stored values of
// `source`.
struct Link {
  int stage = 0;
  int source = 0;
  bool same = false;
};

struct Tree {
  Cost cost = {};
  std::vector<Link> links = {};  // each source is `from` or the stage of an earlier link
};

// The cheapest tree from stage `from` to all of `wanted`; nullopt if one of them is not below
// `from`. Prefers fewer skipped stages among trees of equal cost.
std::optional<Tree> CheapestTree(const Value& value, int from, std::span<const int> wanted);
// The same for a value if all its ends have positions.
std::optional<Tree> TreeAt(const Problem& problem, const Value& value, const Positions& positions);

// The total cost; nullopt if a consumer would be before its producer.
std::optional<Cost> CostOf(const Problem& problem, const Positions& positions);

// Whether some stage can be computed from an ancestor beyond its parent; the cost of a value is
// then not a sum over stages.
bool HasShortcuts(const Value& value);

}  // namespace octavo::passes::placement
