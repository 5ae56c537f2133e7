// Which value of a quantized graph carries the reals of a value of the float graph, joined by
// original names: y itself, y.q below a Dequantize to y, x.q above a graph input x.
#pragma once

#include <vector>

#include "core/ir/graph.h"

namespace octavo::report {

struct Carrier {
  ir::ValueId reference = {};  // in the float graph
  ir::ValueId actual = {};     // in the quantized graph; codes where there are any
};

// For every f32 value of the float graph that is no constant and whose reals the quantized graph
// still computes, in the float graph's order, inputs first.
std::vector<Carrier> FindCarriers(const ir::Graph& float_graph, const ir::Graph& quantized);

// The float-graph value whose reals a value of the quantized graph carries, or none.
ir::ValueId OriginalOf(const ir::Graph& float_graph, const ir::Graph& quantized, ir::ValueId id);

}  // namespace octavo::report
