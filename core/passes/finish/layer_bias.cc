// SPDX-License-Identifier: Apache-2.0
#include "core/passes/finish/layer_bias.h"

#include <algorithm>
#include <cmath>

#include "core/ir/output_channels.h"
#include "core/passes/quantize/weight_type.h"
#include "core/passes/rewrite.h"
#include "core/profile/choose_params.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;
using profile::Layer;

bool TakesBias(const Node& node) {
  const auto most = static_cast<size_t>(node.op->inputs.max);
  for (size_t i = 0; i < most; ++i) {
    if (node.op->RoleOf(i) == ir::Role::kBias) return true;
  }
  return false;
}

size_t BiasInput(const Node& node) {
  size_t i = 0;
  while (node.op->RoleOf(i) != ir::Role::kBias) ++i;
  return i;
}

// The constant operand of the Add behind a MatMul: a pending Quantize of one element per channel.
struct Addend {
  ir::NodeId quantize = {};
  ValueId floats = {}, value = {};
};
std::optional<Addend> AddendOf(const Graph& graph, const Layer& layer) {
  const ValueId product = graph.node(layer.node).result();
  if (graph.CountUses(product) != 1 || graph.IsOutput(product)) return std::nullopt;
  const ir::Use use = graph.value(product).uses.front();
  const Node& add = graph.node(use.node);
  if (!Is(add, "Add")) return std::nullopt;
  const ValueId other = add.inputs[use.input == 0 ? 1 : 0];
  const Node* quantize = graph.Producer(other);
  if (!IsOwn(quantize, "Quantize") || !graph.IsConstant(quantize->inputs[0])) return std::nullopt;
  const ir::Shape& shape = graph.type(other).shape;
  const bool row = !shape.empty() && shape.back() == layer.outputs() &&
                   ir::NumElements(shape) == layer.outputs();
  if (!row || graph.CountUses(other) != 1) return std::nullopt;
  return Addend{
      .quantize = graph.value(other).producer, .floats = quantize->inputs[0], .value = other};
}

// The sums, and the largest change.
ir::Tensor Added(const ir::Tensor& bias, std::span<const double> shift, double& most) {
  ir::Tensor sum(ir::DType::kF32, bias.shape());
  for (size_t c = 0; c < shift.size(); ++c) {
    const float before = bias.values<float>()[c];
    const auto after = static_cast<float>(double{before} + shift[c]);
    sum.mutable_values<float>()[c] = std::isfinite(after) ? after : before;
    most = std::max(most, std::fabs(double{sum.values<float>()[c]} - double{before}));
  }
  return sum;
}

}  // namespace

LayerBias BiasOf(const Graph& graph, const Layer& layer) {
  const Node& node = graph.node(layer.node);
  if (!TakesBias(node)) return {.possible = AddendOf(graph, layer).has_value()};
  const ValueId bias = ir::ProductOperandsOf(node).bias;
  if (!bias) return {.possible = true};
  const bool plain = graph.IsConstant(bias) && graph.type(bias).dtype == ir::DType::kF32 &&
                     ir::HasPlainBias(graph, node);
  return {.possible = plain, .constant = plain ? &graph.value(bias).constant->tensor : nullptr};
}

bool IsPlainProduct(const Node& node) {
  return node.attributes.Float("alpha", 1) == 1 && node.attributes.Float("beta", 1) == 1;
}

std::optional<BiasChange> AddToBias(Graph& graph, const Layer& layer, std::span<const double> shift,
                                    const target::Target& target) {
  const auto is_zero = [](double x) { return x == 0; };
  if (std::ranges::all_of(shift, is_zero)) return std::nullopt;
  BiasChange change;
  if (const auto addend = AddendOf(graph, layer); addend && !TakesBias(graph.node(layer.node))) {
    const ir::Tensor& floats = graph.value(addend->floats).constant->tensor;
    ir::Tensor sum = Added(floats, shift, change.most);
    if (change.most == 0) return std::nullopt;
    graph.SetType(addend->value,
                  ConstantType(sum, profile::SchemeOf(target, graph.type(addend->value).dtype)));
    const ValueId changed = ChangeConstant(graph, addend->floats, std::move(sum));
    if (changed != addend->floats) graph.SetInput(addend->quantize, 0, changed);
    change.name = graph.name(addend->value);
    return change;
  }
  const ValueId bias = ir::ProductOperandsOf(graph.node(layer.node)).bias;
  const ir::Tensor none(ir::DType::kF32, {layer.outputs()});
  ir::Tensor sum = Added(bias ? graph.value(bias).constant->tensor : none, shift, change.most);
  if (change.most == 0) return std::nullopt;
  ValueId changed = {};
  if (bias) {
    changed = ChangeConstant(graph, bias, std::move(sum));
  } else {
    const std::string name = graph.name(graph.node(layer.node).result()) + ".bias";
    changed = AddConstant(graph, name, std::move(sum));
  }
  if (changed != bias) graph.SetInput(layer.node, BiasInput(graph.node(layer.node)), changed);
  change.name = graph.name(changed);
  return change;
}

}  // namespace octavo::passes
