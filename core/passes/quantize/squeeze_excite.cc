// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/squeeze_excite.h"

#include <algorithm>

#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// Two products, two activations, two biases, and ops that remove and restore axes.
constexpr size_t kMaxNodes = 16;

// Whether the node computes the mean of every channel of x.
bool Pools(const Graph& graph, const Node& node, ValueId x) {
  if (node.input(0) != x || (!Is(node, "GlobalAveragePool") && !Is(node, "ReduceMean")))
    return false;
  const ir::Shape& image = graph.type(x).shape;
  return graph.type(node.result()).elements() == image[0] * image[1];
}

bool HasWeights(const Node& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.op->RoleOf(i) == ir::Role::kWeight) return true;
  }
  return false;
}

// Whether the op that computes the gate's value, apart from shape changes, has a bounded result.
bool IsGate(const Graph& graph, ValueId value) {
  using Kind = ir::QuantRule::Kind;
  while (const Node* node = graph.Producer(value)) {
    const Kind kind = node->op->QuantOf(graph, *node).kind;
    if (kind != Kind::kSameScale || node->op->clamps)
      return kind == Kind::kFixed || node->op->clamps;
    value = node->input(0);
  }
  return false;
}

class Finder {
 public:
  Finder(const Graph& graph, NodeId product, ValueId x) : graph_(graph), product_(product), x_(x) {}

  // The nodes from the pool of x to `gate`; empty if the nodes do not form such a block.
  std::vector<NodeId> Inner(ValueId gate) {
    if (!Reach(gate) || !pools_ || !weighs_ || !OnlyReadInside()) return {};
    std::vector<NodeId> nodes(nodes_.rbegin(), nodes_.rend());
    return nodes;
  }

 private:
  bool Reach(ValueId value) {
    const NodeId id = graph_.value(value).producer;
    if (!id) return graph_.IsConstant(value);
    if (std::find(nodes_.begin(), nodes_.end(), id) != nodes_.end()) return true;
    const Node& node = graph_.node(id);
    if (nodes_.size() == kMaxNodes || node.results.size() != 1) return false;
    nodes_.push_back(id);
    weighs_ |= HasWeights(node);
    if (std::ranges::find(node.inputs, x_) != node.inputs.end()) {
      pools_ = true;
      return Pools(graph_, node, x_);
    }
    return std::ranges::all_of(node.inputs, [&](ValueId input) { return !input || Reach(input); });
  }

  bool OnlyReadInside() const {
    return std::ranges::all_of(nodes_, [&](NodeId id) {
      const ir::Value& value = graph_.value(graph_.node(id).result());
      return value.output_uses == 0 && std::ranges::all_of(value.uses, [&](const ir::Use& use) {
               return use.node == product_ || std::ranges::find(nodes_, use.node) != nodes_.end();
             });
    });
  }

  const Graph& graph_;
  NodeId product_;
  ValueId x_;
  std::vector<NodeId> nodes_ = {};
  bool pools_ = false, weighs_ = false;
};

SqueezeExciteBlock BlockOf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const size_t i : {0, 1}) {
    const ValueId x = node.input(i), gate = node.input(1 - i);
    const ir::Type &image = graph.type(x), &factor = graph.type(gate);
    if (image.dtype != ir::DType::kF32 || image.shape.size() < 3 ||
        factor.elements() != image.shape[0] * image.shape[1] || factor.shape == image.shape ||
        !IsGate(graph, gate)) {
      continue;
    }
    std::vector<NodeId> inner = Finder(graph, id, x).Inner(gate);
    if (!inner.empty()) return {.product = id, .inner = std::move(inner)};
  }
  return {};
}

// A node of the block that is float although the target has an integer form of it.
NodeId FloatOf(const Graph& graph, const target::Target& target, const QuantizePlan& plan,
               const std::vector<NodeId>& nodes) {
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    const auto own = node.op->QuantOf(graph, node).kind;
    if (!plan.IsInteger(id) && target.WhyFloat(node.op->name, own).empty()) return id;
  }
  return {};
}

}  // namespace

std::vector<SqueezeExciteBlock> SqueezeExciteBlocksOf(const Graph& graph) {
  std::vector<SqueezeExciteBlock> blocks;
  for (const NodeId id : graph.nodes()) {
    if (!Is(graph.node(id), "Mul")) continue;
    SqueezeExciteBlock block = BlockOf(graph, id);
    if (block.product) blocks.push_back(std::move(block));
  }
  return blocks;
}

void KeepBlocksWhole(const Graph& graph, const target::Target& target, QuantizePlan& plan) {
  for (const SqueezeExciteBlock& block : SqueezeExciteBlocksOf(graph)) {
    std::vector<NodeId> nodes = block.inner;
    nodes.push_back(block.product);
    const NodeId floating = FloatOf(graph, target, plan, nodes);
    if (!floating) continue;
    const std::string reason = fmt::format(
        "the squeeze-and-excite block of '{}' is quantized as a whole, and '{}' in it stays float: "
        "{}",
        graph.node(block.product).name, graph.node(floating).name, plan.reasons[floating]);
    for (const NodeId id : nodes) {
      if (!plan.IsInteger(id)) continue;
      plan.integer[id.index] = false;
      plan.reasons[id] = reason;
    }
  }
}

}  // namespace octavo::passes
