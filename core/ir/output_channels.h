// SPDX-License-Identifier: Apache-2.0
// The quantization parameters of the output channels of an op with weights.  A per-channel weight
// has one scale for each of its own channels.  These are all output channels, or those of one
// group where the weights of a group lie behind those of the one before (ConvTranspose): all
// groups then share the scales, and output channel c has those of weight channel c modulo their
// number.
#pragma once

#include "core/ir/graph.h"

namespace octavo::ir {

// The axis of output channels in the result of every op that takes a bias.
inline constexpr size_t kOutputChannelAxis = 1;

// The operands of a node by their role; invalid where there is none.  Of several data operands the
// first.
struct ProductOperands {
  ValueId data = {}, weight = {}, bias = {};
  size_t weight_input = 0, bias_input = 0;
};
ProductOperands ProductOperandsOf(const Node& node);

// Whether the node is a product of quantized operands with a float result: the dequantized sums,
// float(sum + bias) * AccumulatorScale(c).
bool DequantizesSums(const Graph& graph, const Node& node);

// Whether the weight has one scale for all channels or one per output channel.  False for a weight
// that is not quantized.
bool HasOutputChannels(const Graph& graph, const Node& node, const ProductOperands& operands);

// The index in a weight's scales and zero points of output channel c.
inline size_t ChannelOf(const Quant& weight, int64_t c) {
  return static_cast<size_t>(c) % weight.scales.size();
}
inline float WeightScale(const Quant& weight, int64_t c) {
  return weight.scales[ChannelOf(weight, c)];
}

// The scale of the sum of products of output channel c, and so of its bias: float(s_x) *
// float(s_w[c]).  `data` is per tensor.
inline float AccumulatorScale(const Quant& data, const Quant& weight, int64_t c) {
  return data.scale() * WeightScale(weight, c);
}

// The parameters of a bias whose last axis is that of output channels: the accumulator's scales and
// zero point 0; per tensor for a weight with one scale, as which an export has it too.
Quant BiasQuant(const Quant& data, const Quant& weight, const Shape& bias);

// Whether the node's bias has one element per channel of the result, all along its last axis.
// Only where the node has a bias.
bool HasPlainBias(const Graph& graph, const Node& node);

}  // namespace octavo::ir
