// SPDX-License-Identifier: Apache-2.0
// Matches the values of a quantized graph with those of the float graph by name.  A value y of the
// float graph is the value of its name, y.q below a Dequantize that computes y, or x.q above a
// graph input x.
#pragma once

#include <vector>

#include "core/ir/graph.h"

namespace octavo::report {

struct Counterpart {
  ir::ValueId baseline = {};  // in the float graph
  ir::ValueId actual = {};    // in the quantized graph, the quantized value if there is one
};

// One for every f32 value of the float graph that is not a constant and that the quantized graph
// still computes; in the float graph's order, inputs first.
std::vector<Counterpart> FindCounterparts(const ir::Graph& float_graph, const ir::Graph& quantized);

// The value of the float graph that a value of the quantized graph represents; empty if there is
// none.
ir::ValueId BaselineOf(const ir::Graph& float_graph, const ir::Graph& quantized, ir::ValueId id);

}  // namespace octavo::report
