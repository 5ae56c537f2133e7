// SPDX-License-Identifier: Apache-2.0
// A region of a graph: ops whose operands and results have one label, the values between them, and
// on every path from a value to a consumer the labels to which its Rescales convert.  BuildProblem
// computes how far each op can move along these labels if every path keeps their sequence.
#pragma once

#include <functional>
#include <vector>

#include "core/passes/placement/problem.h"

namespace octavo::passes::placement {

struct Actor {
  enum class Kind {
    kMover,     // a same-scale op: all operands and results have one label
    kProducer,  // computes a value, possibly directly at a later label
    kConsumer,  // consumes a value, possibly at an earlier label
  };
  Kind kind = Kind::kMover;
  int label = 0;  // of its operands or results
};

// From an item to one of its consumers.
struct Path {
  int consumer = 0;              // actor
  std::vector<int> labels = {};  // of the Rescales in order; the last is the consumer's label
};

struct Item {
  int64_t elements = 0;
  int producer = 0;  // actor; the value has its label
  std::vector<Path> paths = {};
  bool evaluated = false;  // follows from constants, and so do its Rescales: they cost nothing
};

// Movers are in topological order.
struct Region {
  std::vector<Actor> actors = {};
  std::vector<Item> items = {};
};

// The moves that the rules allow.  An unset function allows none.
struct AllowedMoves {
  // Whether a Rescale may sink or hoist past a mover.
  std::function<bool(int actor, int from, int to)> may_sink = {};
  std::function<bool(int actor, int from, int to)> may_hoist = {};
  // Whether a consumer of `to` may instead consume `from`, the label of its Rescale's operand.
  std::function<bool(int actor, int from, int to)> may_fold_into_consumer = {};
  // Whether a producer of `from` may compute `to`.
  std::function<bool(int actor, int from, int to)> may_fold_into_producer = {};
  // Whether Rescale(Rescale(x : a) : b) : c may become Rescale(x : a) : c or, if c = a, x itself.
  std::function<bool(int a, int b, int c)> may_merge = {};
};

// The maximum distance that a site moves in one direction, and the maximum number of consecutive
// Rescales on a path.  This bound keeps the cost linear in the region's size; the consumer at the
// end of a longer path does not move.
inline constexpr int kMaxSteps = 3;

// The problem for a region: its sites are the actors and its values the items, in order.
struct Built {
  Problem problem = {};
  // labels[item][stage]: the value's label at that stage.
  std::vector<std::vector<int>> labels = {};
};
Built BuildProblem(const Region& region, const AllowedMoves& allowed);

}  // namespace octavo::passes::placement
