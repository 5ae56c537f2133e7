// SPDX-License-Identifier: Apache-2.0
#include "core/ir/output_channels.h"

namespace octavo::ir {

ProductOperands ProductOperandsOf(const Node& node) {
  ProductOperands operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    switch (node.op->RoleOf(i)) {
      case Role::kData:
        if (!operands.data) operands.data = node.inputs[i];
        break;
      case Role::kWeight:
        operands.weight = node.inputs[i];
        operands.weight_input = i;
        break;
      case Role::kBias:
        operands.bias = node.inputs[i];
        operands.bias_input = i;
        break;
      case Role::kParameter:
        break;
    }
  }
  return operands;
}

bool DequantizesSums(const Graph& graph, const Node& node) {
  const ProductOperands operands = ProductOperandsOf(node);
  return operands.data && operands.weight && graph.type(operands.data).quantized() &&
         graph.type(operands.weight).quantized() && graph.type(node.result()).dtype == DType::kF32;
}

bool HasOutputChannels(const Graph& graph, const Node& node, const ProductOperands& operands) {
  if (!operands.weight || !graph.type(operands.weight).quantized()) return false;
  const Quant& weight = *graph.type(operands.weight).quant;
  if (weight.per_tensor()) return true;
  return weight.block == 0 && node.op->weight_axis != nullptr &&
         node.op->weight_axis(graph, node, static_cast<int>(operands.weight_input)) == *weight.axis;
}

Quant BiasQuant(const Quant& data, const Quant& weight, const Shape& bias) {
  if (weight.scales.size() == 1) return Quant::PerTensor(AccumulatorScale(data, weight, 0), 0);
  const int64_t channels = bias.back();
  std::vector<float> scales(static_cast<size_t>(channels));
  for (int64_t c = 0; c < channels; ++c) scales[c] = AccumulatorScale(data, weight, c);
  std::vector<int32_t> zero_points(scales.size(), 0);
  return Quant::PerAxis(static_cast<int>(bias.size()) - 1, std::move(scales),
                        std::move(zero_points));
}

bool HasPlainBias(const Graph& graph, const Node& node) {
  const Shape& bias = graph.type(ProductOperandsOf(node).bias).shape;
  const int64_t channels = graph.type(node.result()).shape[kOutputChannelAxis];
  return !bias.empty() && bias.back() == channels && NumElements(bias) == channels;
}

}  // namespace octavo::ir
