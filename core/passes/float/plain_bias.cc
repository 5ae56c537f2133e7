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

}  // namespace octavo::passes
