// SPDX-License-Identifier: Apache-2.0
// The region of a graph in which Rescales may move, and how a solution is written back to the
// graph. Only exact moves are written: a Rescale to be folded or merged becomes adjacent to its
// neighbour, and the rules of absorb_rules.h do the rest.
#pragma once

#include <vector>

#include "core/passes/pass.h"
#include "core/passes/placement/region.h"
#include "core/passes/placement/solve.h"

namespace octavo::passes::placement {

// A region whose actors and items correspond to a graph's nodes and values.
struct GraphRegion {
  Region region = {};
  // A label's dtype and quantization parameters; shape and range are not set.
  std::vector<ir::Type> labels = {};
  // By actor: the node of a mover, or the use by a consumer; else invalid.
  std::vector<ir::NodeId> movers = {};
  std::vector<ir::Use> uses = {};
  // By item: the value, and by path the use, or the graph output, at its end.
  struct End {
    ir::Use use = {};
    ir::ValueId output = {};
  };
  std::vector<ir::ValueId> values = {};
  std::vector<std::vector<End>> paths = {};
  // By item: the Rescales of the value in the order of their chain, with their labels.
  struct ExistingRescale {
    ir::NodeId node = {};
    std::vector<int> labels = {};
    bool is_output = false;  // its result is a graph output
  };
  std::vector<std::vector<ExistingRescale>> rescales = {};
};

// Per-tensor values only; a Rescale from or to a per-channel type, one that only gives a value the
// name of a graph output, and one after kMaxSteps others stay where they are.
GraphRegion RegionOf(const ir::Graph& graph);

// The moves that the rules allow within the job's limit.  All arguments must outlive it.
AllowedMoves AllowedMovesOf(const ir::Graph& graph, const Settings& settings,
                            const GraphRegion& region);

// Whether two Rescales of a value convert it to the same labels, at most one of them to a
// graph output; Write keeps one of them.
bool HasDuplicates(const std::vector<GraphRegion::ExistingRescale>& rescales);

// Puts the ops that moved, and with them the Rescales, where `positions` say; graph outputs keep
// their names.  Returns the nodes that moved with their positions.
struct Move {
  ir::NodeId node = {};
  int position = 0;
};
Result<std::vector<Move>> Write(ir::Graph& graph, const GraphRegion& region, const Built& built,
                                Positions positions);

}  // namespace octavo::passes::placement
