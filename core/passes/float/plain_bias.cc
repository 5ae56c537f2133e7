// SPDX-License-Identifier: Apache-2.0
#include "core/passes/float/plain_bias.h"

#include "core/ir/output_channels.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {

using ir::ValueId;

void PlainBias(ir::Graph& graph, ir::NodeId id, Context& context) {
  const ir::Node& node = graph.node(id);
  if (!Is(node, "Gemm") || !node.input(2)) return;
  const ir::Tensor* bias = ConstantOf(graph, node.input(2));
  if (bias == nullptr || bias->dtype() != ir::DType::kF32) return;
  const int64_t channels = graph.type(node.result()).shape[ir::kOutputChannelAxis];
  const ir::Shape plain = {channels};
  const bool row = ir::HasPlainBias(graph, node);
  if (bias->shape() == plain || (!row && bias->size() != 1)) return;
  context.Applied(kPlainBias, node.name, {graph.name(node.input(2))});
  ir::Tensor tensor(ir::DType::kF32, plain);
  for (int64_t c = 0; c < channels; ++c) {
    tensor.mutable_values<float>()[c] = bias->values<float>()[row ? c : 0];
  }
  const ValueId changed = ChangeConstant(graph, node.input(2), std::move(tensor));
  if (changed != graph.node(id).input(2)) graph.SetInput(id, 2, changed);
}

// The sum is one addition after the products in either form.
void SplitBias(ir::Graph& graph, ir::NodeId id, Context& context) {
  const ir::Node& node = graph.node(id);
  if (!Is(node, "Gemm") || !node.input(2)) return;
  const ir::Tensor* bias = ConstantOf(graph, node.input(2));
  if (bias == nullptr || bias->dtype() != ir::DType::kF32 || bias->size() == 1 ||
      ir::HasPlainBias(graph, node) || node.attributes.Float("beta", 1) != 1 ||
      graph.type(node.result()).quantized()) {
    return;
  }
  const std::string name = graph.name(node.result());
  const ValueId b = node.input(2);
  ir::Graph::Definition product{
      .op = node.op,
      .inputs = {node.input(0), node.input(1)},
      .attributes = node.attributes,
      .results = {{graph.UniqueName(name + ".product"), graph.type(node.result())}},
      .origin = node.origin};
  context.Applied(kSplitBias, node.name, {name});
  const ir::NodeId inner = graph.InsertBefore(id, std::move(product));
  Recompute(graph, id, "Add", {graph.node(inner).result(), b}, {});
}

}  // namespace octavo::passes
