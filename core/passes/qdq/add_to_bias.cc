// SPDX-License-Identifier: Apache-2.0
#include "core/passes/qdq/add_to_bias.h"

#include <vector>

#include "core/ir/output_channels.h"
#include "core/ops/op_table.h"
#include "core/passes/qdq/qdq_rules.h"

namespace octavo::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr size_t kBiasInput = 2;  // of every op that takes one

// The op that computes `product` and has a bias input; null if there is no such op.
const ir::OpDef* WithBias(const ir::Graph& graph, const ir::Node& product) {
  if (product.op->RoleOf(kBiasInput) == ir::Role::kBias) {
    const bool plain = !product.input(kBiasInput) && product.attributes.Float("beta", 1) == 1;
    return plain ? product.op : nullptr;
  }
  const bool matrices = product.op == ops::FindOp("MatMul") &&
                        graph.type(product.input(0)).shape.size() == 2 &&
                        graph.type(product.input(1)).shape.size() == 2;
  return matrices ? ops::FindOp("Gemm") : nullptr;
}

bool HasQuantizedOperands(const ir::Graph& graph, const ir::Node& product) {
  const ir::OpDef* dequantize = ops::FindOp("Dequantize", "octavo");
  for (size_t i = 0; i < kBiasInput; ++i) {
    const ir::Node* producer = product.input(i) ? graph.Producer(product.input(i)) : nullptr;
    if (producer == nullptr || producer->op != dequantize) return false;
  }
  return true;
}

// Whether the constant has one element per channel and broadcasts along all other axes.
bool IsVectorOfChannels(const ir::Graph& graph, ValueId constant, const ir::Shape& result) {
  if (!graph.IsConstant(constant) || graph.type(constant).dtype != ir::DType::kF32) return false;
  const ir::Shape& shape = graph.type(constant).shape;
  const size_t after = result.size() - ir::kOutputChannelAxis;  // axes from the channels on
  const int64_t channels = result[ir::kOutputChannelAxis];
  return shape.size() >= after && shape.size() <= result.size() &&
         shape[shape.size() - after] == channels && ir::NumElements(shape) == channels;
}

// The constant as a bias of rank 1, in place if it has no other consumer.
ValueId AsBias(ir::Graph& graph, ValueId constant) {
  const ir::Tensor& tensor = graph.value(constant).constant->tensor;
  if (tensor.rank() == 1) return constant;
  ir::Tensor vector = tensor.Reshaped({tensor.size()});
  ir::Type type{vector.dtype(), vector.shape(), {}, {}};
  if (graph.CountUses(constant) > 1) {
    return graph.AddConstant(graph.UniqueName(graph.name(constant) + ".bias"), std::move(vector));
  }
  graph.SetPayload(constant, ir::MakePayload(std::move(vector)), std::move(type));
  return constant;
}

// The Add `id` becomes the product at its input `operand`, with the other input as bias.
bool Rewrite(ir::Graph& graph, NodeId id, size_t operand, const std::set<std::string>& kept_float,
             Context& context) {
  const ValueId sum = graph.node(id).result();
  const ValueId y = graph.node(id).input(operand), b = graph.node(id).input(1 - operand);
  const NodeId producer = graph.value(y).producer;
  const ir::Shape shape = graph.type(y).shape;
  if (!producer || shape.size() <= ir::kOutputChannelAxis || shape != graph.type(sum).shape)
    return false;
  const ir::Node& product = graph.node(producer);
  if (kept_float.contains(product.name)) return false;
  const ir::OpDef* op = WithBias(graph, product);
  if (op == nullptr || graph.CountUses(y) != 1 || !HasQuantizedOperands(graph, product))
    return false;
  if (!IsVectorOfChannels(graph, b, shape)) return false;
  context.Applied(kAddToBias, graph.node(id).name, {graph.name(y), graph.name(sum)});
  const ValueId x = product.input(0), w = product.input(1);
  const ir::AttrMap attributes = product.attributes;
  const std::vector<std::string> origin = product.origin;
  graph.AddOrigin(id, origin);
  graph.Redefine(id, op, {x, w, AsBias(graph, b)}, attributes);
  graph.Erase(producer);
  return true;
}

}  // namespace

void AddToBias(ir::Graph& graph, const std::set<std::string>& kept_float, Context& context) {
  std::vector<NodeId> sums;
  for (const NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.op == ops::FindOp("Add") && !kept_float.contains(node.name)) sums.push_back(id);
  }
  for (const NodeId id : sums) {
    if (!Rewrite(graph, id, 0, kept_float, context)) Rewrite(graph, id, 1, kept_float, context);
  }
}

}  // namespace octavo::passes
