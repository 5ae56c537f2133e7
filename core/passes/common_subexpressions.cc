// SPDX-License-Identifier: Apache-2.0
#include "core/passes/common_subexpressions.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

// Larger constants are compared by identity only.
constexpr int64_t kComparedElements = 64;

bool IsPending(const Graph& graph, const Node& node) {
  return IsOwn(node, "Quantize") && graph.IsConstant(node.input(0));
}

// A small constant's elements; null for any other operand, which is compared by its id.
const ir::Tensor* ComparedElements(const Graph& graph, ValueId input) {
  if (!input || graph.type(input).elements() > kComparedElements) return nullptr;
  return ConstantOf(graph, input);
}

bool SameOperand(const Graph& graph, ValueId a, ValueId b) {
  if (a == b) return true;
  const ir::Tensor* left = ComparedElements(graph, a);
  const ir::Tensor* right = left == nullptr ? nullptr : ComparedElements(graph, b);
  return right != nullptr && *left == *right;
}

// Whether two nodes have the same op, operands and number of results; attributes and types are not
// compared.
bool SameForm(const Graph& graph, const Node& a, const Node& b) {
  if (a.op->name != b.op->name || a.op->domain != b.op->domain) return false;
  return a.results.size() == b.results.size() &&
         std::ranges::equal(a.inputs, b.inputs, [&](ValueId left, ValueId right) {
           return SameOperand(graph, left, right);
         });
}

// A hash table of nodes; equal nodes have the same hash.
class Forms {
 public:
  explicit Forms(const Graph& graph)
      : graph_(graph), number_(graph.node_bound()), next_(graph.node_bound()) {
    size_t buckets = 16;
    while (buckets < static_cast<size_t>(graph.node_count())) buckets *= 2;
    first_.resize(buckets);
  }

  // The first added node with the same form as `id`; Next iterates over the others.
  NodeId First(NodeId id) {
    number_[id.index] = NumberOf(graph_.node(id));
    return Match(Bucket(id), id);
  }
  NodeId Next(NodeId at, NodeId id) const { return Match(next_[at.index], id); }

  void Add(NodeId id) {
    NodeId* last = &Bucket(id);
    while (*last) last = &next_[last->index];
    *last = id;
  }

 private:
  NodeId& Bucket(NodeId id) { return first_[number_[id.index] & (first_.size() - 1)]; }

  NodeId Match(NodeId at, NodeId id) const {
    while (at && (number_[at.index] != number_[id.index] ||
                  !SameForm(graph_, graph_.node(at), graph_.node(id)))) {
      at = next_[at.index];
    }
    return at;
  }

  // Hashes the elements of constants only if all operands are constant, because otherwise the other
  // operands distinguish nodes.
  uint64_t NumberOf(const Node& node) const {
    uint64_t number = Mix(std::hash<std::string_view>()(node.op->name), node.results.size());
    const bool constant = std::ranges::all_of(
        node.inputs, [&](ValueId input) { return !input || graph_.IsConstant(input); });
    for (const ValueId input : node.inputs) {
      const bool compared = input && graph_.IsConstant(input) && !graph_.type(input).quantized() &&
                            graph_.type(input).elements() <= kComparedElements;
      if (!compared) {
        number = Mix(number, static_cast<uint64_t>(input.index));
      } else if (constant) {
        number = Mix(number, NumberOf(graph_.value(input).constant->tensor));
      } else {
        number = Mix(number, static_cast<uint64_t>(graph_.type(input).elements()));
      }
    }
    return number;
  }
  static uint64_t NumberOf(const ir::Tensor& tensor) {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes())});
  }
  static uint64_t Mix(uint64_t number, uint64_t more) {
    number = (number ^ more) * 0x9E3779B97F4A7C15;
    return number ^ (number >> 32);
  }

  const Graph& graph_;
  std::vector<uint64_t> number_;  // by node
  std::vector<NodeId> next_;      // by node: the next one in its bucket
  std::vector<NodeId> first_;     // by bucket
};

bool SameTypes(const Graph& graph, const Node& a, const Node& b) {
  for (size_t i = 0; i < a.results.size(); ++i) {
    if (graph.type(a.results[i]) != graph.type(b.results[i])) return false;
  }
  return a.attributes == b.attributes;
}

bool MergeInto(Graph& graph, NodeId twin, NodeId id, Context& context, const Rule& rule,
               bool& resort) {
  const std::string name = graph.node(id).name;
  const std::vector<ValueId> from = graph.node(id).results, to = graph.node(twin).results;
  if (from.size() == 1) {
    if (!Replace(graph, from[0], to[0], resort)) return false;
  } else {
    for (const ValueId result : from) {
      if (graph.IsOutput(result)) return false;
    }
    for (size_t i = 0; i < from.size(); ++i) graph.Forward(from[i], to[i]);
    graph.AddOrigin(twin, graph.node(id).origin);
    graph.Erase(id);
  }
  context.Applied(rule, name, {graph.name(from[0]), graph.name(to[0])});
  return true;
}

}  // namespace

Status EliminateCommonSubexpressions(Graph& graph, Context& context, const Rule& rule) {
  bool resort = false;
  Forms forms(graph);
  for (const NodeId id : graph.nodes()) {
    if (IsPending(graph, graph.node(id))) continue;
    bool merged = false;
    for (NodeId twin = forms.First(id); twin && !merged; twin = forms.Next(twin, id)) {
      if (graph.node(twin).erased || !SameTypes(graph, graph.node(twin), graph.node(id))) continue;
      merged = MergeInto(graph, twin, id, context, rule, resort);
    }
    if (!merged || !graph.node(id).erased) forms.Add(id);
  }
  return resort ? graph.Sort() : Status{};
}

}  // namespace octavo::passes
