// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rescale/same_type_groups.h"

#include <numeric>

#include "core/passes/analysis/implicit_relu.h"
#include "core/passes/rescale/absorb.h"
#include "core/passes/rescale/bias_rescale.h"
#include "core/passes/rescale/fold_conditions.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

namespace {

bool IsPerTensor(const Graph& graph, ValueId id) {
  return id && graph.type(id).quantized() && graph.type(id).quant->per_tensor();
}

}  // namespace

SameTypeGroups::SameTypeGroups(const Graph& graph, const target::Target& target)
    : graph_(graph), target_(target), group_(graph.value_bound(), -1) {
  std::vector<int32_t> parent(graph.value_bound());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](ValueId id) {
    int32_t at = id.index;
    while (parent[at] != at) at = parent[at] = parent[parent[at]];
    return at;
  };
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!IsSameScale(node)) continue;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.op->RoleOf(i) != ir::Role::kData || !IsPerTensor(graph, node.inputs[i])) continue;
      parent[root(node.inputs[i])] = root(node.result());
    }
    for (const ValueId result : node.results) {
      if (IsPerTensor(graph, result)) parent[root(result)] = root(node.result());
    }
  }
  std::vector<int> number(graph.value_bound(), -1);
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    if (graph.value(id).erased || !IsPerTensor(graph, id)) continue;
    int& group = number[root(id)];
    if (group < 0) {
      group = size();
      members_.emplace_back();
    }
    group_[i] = group;
    members_[group].push_back(id);
  }
}

bool SameTypeGroups::IsSameScale(const Node& node) const {
  return node.op->domain != "octavo" && !node.results.empty() &&
         IsPerTensor(graph_, node.result()) &&
         target_.QuantOf(graph_, node).kind == ir::QuantRule::Kind::kSameScale;
}

std::string SameTypeGroups::WhyProducerStays(ValueId id, const Type& type) const {
  const std::string& name = graph_.name(id);
  if (graph_.IsOutput(id)) return fmt::format("'{}' is a graph output", name);
  const Node* producer = graph_.Producer(id);
  if (producer == nullptr) return fmt::format("no node computes '{}'", name);
  if (IsRescale(*producer)) {
    const Type &from = graph_.type(producer->inputs[0]), &own = graph_.type(id);
    return WhyReluStays(own, {&from, &type}, *target_.numerics, name);
  }
  if (IsSameScale(*producer)) {
    // A per-channel operand with one channel, which a Reshape turns into a per-tensor type.
    for (size_t i = 0; i < producer->inputs.size(); ++i) {
      const ValueId x = producer->inputs[i];
      if (producer->op->RoleOf(i) != ir::Role::kData || !x || IsPerTensor(graph_, x)) continue;
      return fmt::format("'{}' has the parameters of '{}', which are per channel", name,
                         graph_.name(x));
    }
    if (producer->op->rescale.why_not == nullptr) return {};
    return producer->op->rescale.why_not(graph_, *producer, graph_.type(id), type);
  }
  const FoldCheck check = CanFoldIntoProducer(graph_, target_, id, graph_.type(id), type);
  if (check.effect) return {};
  return check.why.empty()
             ? fmt::format("{} '{}' has a fixed result type", producer->op->name, producer->name)
             : check.why;
}

std::string SameTypeGroups::WhyConsumerStays(const ir::Use& use, ValueId id,
                                             const Type& type) const {
  const Node& consumer = graph_.node(use.node);
  if (IsRescale(consumer)) return {};
  if (IsSameScale(consumer) && consumer.op->RoleOf(use.input) == ir::Role::kData) return {};
  const FoldCheck check = ConsumerAccepts(graph_, target_, use, type, graph_.type(id));
  if (!check.effect) return check.why;
  return WhyBiasStays(graph_, use.node, type, target_.bias_bits, BiasScale::kCoarser);
}

std::string SameTypeGroups::WhyStays(int group, const Type& type) const {
  for (const ValueId id : members_[group]) {
    if (std::string why = WhyProducerStays(id, type); !why.empty()) return why;
    for (const ir::Use& use : graph_.value(id).uses) {
      if (std::string why = WhyConsumerStays(use, id, type); !why.empty()) return why;
    }
  }
  return {};
}

Status Retype(Graph& graph, const std::vector<ValueId>& members, const Type& type, int bias_bits) {
  for (const ValueId id : members) {
    Type own = type;
    own.shape = graph.type(id).shape;
    own.range.reset();  // a proven range applies only to the old type
    const std::vector<ir::Use> uses = graph.value(id).uses;
    for (const ir::Use& use : uses) {
      if (graph.node(use.node).op->RoleOf(use.input) != ir::Role::kData) continue;
      const std::string why = ReexpressBias(graph, use.node, own, bias_bits, BiasScale::kCoarser);
      if (!why.empty()) return Fail(Code::kInternal, "'{}': {}", graph.name(id), why);
    }
    graph.SetType(id, std::move(own));
  }
  return {};
}

}  // namespace octavo::passes
