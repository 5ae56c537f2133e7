// SPDX-License-Identifier: Apache-2.0
// Matches values of a quantized graph with values of the float graph by name.  The counterpart of a
// float value y is the value y, the value y.q that a Dequantize converts to y, or, for a graph
// input x, the value x.q that a Quantize computes from x.
#pragma once

#include <vector>

#include "core/ir/graph.h"

namespace octavo::report {

struct Counterpart {
  ir::ValueId baseline = {};  // in the float graph
  ir::ValueId actual = {};    // in the quantized graph; its quantized form if it has one
};

// Returns one entry per f32 value of the float graph that is not a constant and that the quantized
// graph still computes, in the order of the float graph, inputs first.
std::vector<Counterpart> FindCounterparts(const ir::Graph& float_graph, const ir::Graph& quantized);

// The value of the float graph that a value of the quantized graph represents; invalid if there is
// none.
ir::ValueId BaselineOf(const ir::Graph& float_graph, const ir::Graph& quantized, ir::ValueId id);

// The node that computes a value of the quantized graph, behind changes of its representation; null
// for a graph input and a constant.
const ir::Node* ComputingNode(const ir::Graph& quantized, ir::ValueId id);

}  // namespace octavo::report
