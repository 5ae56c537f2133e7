// A region as it stands: ops that read and give one label, the values between them, and on every
// way from a value to a reader the labels to which its Rescales convert.  BuildProblem says how far
// each op may move along these labels such that every path keeps its sequence of them.
#pragma once

#include <functional>
#include <vector>

#include "core/passes/placement/problem.h"

namespace octavo::passes::placement {

struct Actor {
  enum class Kind {
    kMover,     // an op that reads all its operands and gives all its results at one label
    kProducer,  // gives a value; may give it at a later label at once
    kReader,    // reads a value; may read it at an earlier label
  };
  Kind kind = Kind::kMover;
  int label = 0;  // at which it reads or gives codes
};

struct Way {
  int reader = 0;                // actor
  std::vector<int> labels = {};  // of the Rescales in order; the last is the reader's label
};

struct Item {
  int64_t elements = 0;
  int producer = 0;  // actor, whose label the codes have
  std::vector<Way> ways = {};
};

// Movers stand in topological order among each other.
struct Region {
  std::vector<Actor> actors = {};
  std::vector<Item> items = {};
};

// What the laws allow.  An unset function allows nothing.
struct Laws {
  // Whether a Rescale may move past a mover, downwards or upwards.
  std::function<bool(int actor, int from, int to)> may_sink = {};
  std::function<bool(int actor, int from, int to)> may_raise = {};
  // Whether a reader of `to` may read `from`, its Rescale's operand, instead.
  std::function<bool(int actor, int from, int to)> may_read = {};
  // Whether a producer of `from` may give `to`.
  std::function<bool(int actor, int from, int to)> may_give = {};
  // Whether Rescale(Rescale(x : a) : b) : c may become Rescale(x : a) : c; for c = a, x itself.
  std::function<bool(int a, int b, int c)> may_merge = {};
};

// The farthest that a site moves in one direction, and the most Rescales in a row on a way.  The
// bound keeps the cost linear in the region; a longer way's reader stays where it is.
inline constexpr int kMaxSteps = 3;

// The problem whose sites are the region's actors and whose values are its items, in order.
struct Built {
  Problem problem = {};
  // labels[item][stage]: what the value's codes are there.
  std::vector<std::vector<int>> labels = {};
};
Built BuildProblem(const Region& region, const Laws& laws);

}  // namespace octavo::passes::placement
