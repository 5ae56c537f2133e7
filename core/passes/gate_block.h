// Squeeze-and-excite: an image times a gate that is computed from the image's own means.
//
//   y = x * gate(.. product(.. pool(x)))      the gate is a Sigmoid, a HardSigmoid or a clamp
//
// The block is one thing to whoever asks for floats: a part of it that is kept in float keeps all
// of it, so that no codes are made and unmade on the way from the pool to the product.
#pragma once

#include <vector>

#include "core/passes/quantize_plan.h"

namespace octavo::passes {

struct GateBlock {
  ir::NodeId product = {};             // the Mul
  std::vector<ir::NodeId> inner = {};  // from the pool to the gate, in order
};

// All blocks of a graph whose inner values nobody else reads.
std::vector<GateBlock> GateBlocksOf(const ir::Graph& graph);

// Where the op gives one and the same result beyond (HardSigmoid): its operand need not hold more.
std::optional<ir::Range> UsefulRange(const ir::Node& node);

// Takes blocks out of the plan that have a node in float: on request, for want of a range or of
// bits.  Where the target merely has no integers for an op inside, that op alone stays float: codes
// of a vector cost less than floats of an image.
void KeepBlocksWhole(const ir::Graph& graph, const target::Target& target, QuantizePlan& plan);

}  // namespace octavo::passes
