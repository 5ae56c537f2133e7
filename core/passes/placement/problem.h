// Where the Rescales of a region may stand, as numbers alone: sites that move along the labels of
// the paths through them, and values that carry a Rescale for every label that a reader needs.
// Knows no graph; the solvers and their tests need nothing else.
//
// A site is an op that reads and gives codes of one label, or one end of a path.  Its position is
// how many Rescales, in the order of its paths, were moved from behind it to before it; 0 is where
// it stands in the graph.  A value's stages are the labels that its codes take on the way to its
// readers: a tree whose root is the label of the producer's least position.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace octavo::passes::placement {

// What a placement costs, compared in this order.  An ordered group, so that a flow may have it
// as its capacity.
struct Cost {
  int64_t elements = 0;  // converted by Rescales
  int64_t rescales = 0;
  int64_t moves = 0;  // Rescales moved past sites, in either direction

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

// What must not be chosen.  Sums of a few million of it stay in range.
inline constexpr int64_t kForbidden = int64_t{1} << 40;

// The least and the greatest position.
struct Site {
  int low = 0;
  int high = 0;

  int choices() const { return high - low + 1; }
};

struct Stage {
  int parent = -1;  // an earlier stage of the value; -1: the root
  int depth = 0;
  // Bit d: a Rescale from the ancestor of depth d gives this stage at once, by the laws that omit
  // a rounding where stages lie between.  Always has the parent's bit.
  uint32_t from = 0;
  // Bit d: besides, the codes of that ancestor are this stage's, so no Rescale is needed.
  uint32_t same = 0;
};
inline constexpr int kMaxDepth = 30;

// Where a site stands among a value's stages: at `last` in its greatest position, one stage nearer
// to the root for every position less.
struct End {
  int site = 0;
  int last = 0;
};

struct Value {
  int64_t elements = 0;
  End producer = {};
  std::vector<Stage> stages = {};  // [0] is the root; parents come first
  std::vector<End> readers = {};
};

struct Problem {
  std::vector<Site> sites = {};
  std::vector<Value> values = {};
};

// A position for each site.
using Positions = std::vector<int>;

// The stage of a value at which an end stands when its site is at `position`.
int StageAt(const Problem& problem, const Value& value, const End& end, int position);

// Whether `ancestor` is on the way from the root to `stage`, or is `stage`.
bool IsOnTheWay(const Value& value, int ancestor, int stage);

// How a value's stages are given: stage `stage` by a Rescale from stage `source`, or by the very
// codes of `source`.
struct Link {
  int stage = 0;
  int source = 0;
  bool same = false;
};

struct Tree {
  Cost cost = {};
  std::vector<Link> links = {};  // a stage's source is `from` or an earlier link's stage
};

// The cheapest way from stage `from` to all of `wanted`; nothing where one of them is not below
// it.  Ties go to fewer stages left out.
std::optional<Tree> CheapestTree(const Value& value, int from, std::span<const int> wanted);
// The same for a value whose ends all have positions.
std::optional<Tree> TreeAt(const Problem& problem, const Value& value, const Positions& positions);

// The whole cost; nothing where a reader would stand before its producer.
std::optional<Cost> CostOf(const Problem& problem, const Positions& positions);

// Whether some stage can be given past its parent, so that the cost of a value is not just the sum
// over the stages on the way.
bool HasShortcuts(const Value& value);

}  // namespace octavo::passes::placement
