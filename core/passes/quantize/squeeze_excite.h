// SPDX-License-Identifier: Apache-2.0
// Squeeze-and-excite blocks: an image times a gate that is computed from the image's own means.
//
//   y = x * gate(.. product(.. pool(x)))      the gate is a Sigmoid, a HardSigmoid or a clamp
//
// A block is quantized as a whole: if one of its nodes stays float, all do, so that no value is
// quantized and dequantized between the pool and the product.
#pragma once

#include <vector>

#include "core/passes/quantize/quantize_plan.h"

namespace octavo::passes {

struct SqueezeExciteBlock {
  ir::NodeId product = {};             // the Mul
  std::vector<ir::NodeId> inner = {};  // from the pool to the gate, in order
};

// All blocks of a graph whose inner values have no consumers outside the block.
std::vector<SqueezeExciteBlock> SqueezeExciteBlocksOf(const ir::Graph& graph);

// Removes blocks from the plan that have a float node: on request, without a range, or with too few
// significant bits.  If the only reason is that the target lacks an integer form of an inner op,
// only that op stays float: converting a vector costs less than computing an image in float.
void KeepBlocksWhole(const ir::Graph& graph, const target::Target& target, QuantizePlan& plan);

}  // namespace octavo::passes
